"""Words of the verdict: changes, intervals, decisions, cautions."""
# ruff: noqa: RUF001 - Japanese punctuation is meant

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    "verdict": ("Verdict", "結論"),
    "against": ("{level} against {reference}", "{reference}に対する{level}"),
    "verdict_of": ("{what}{panel}: {sentences}", "{what}{panel}：{sentences}"),
    "verdict_sentence": ("{response} {change}: {seen}.", "{response} {change}：{seen}。"),
    "estimate": ("{change} (95% interval {interval})", "{change}（95%区間 {interval}）"),
    "in_panel": (" ({panel})", "（{panel}）"),
    "space": (" ", ""),
    "separator": ("; ", "；"),
    "no_verdict": (
        "No trials of {reference} and another level with the same settings are complete yet.",
        "{reference}と比較できる試行がまだ揃っていない。",
    ),
    "no_reference": (
        "The factor {factor} has one level only, so there is nothing to compare.",
        "要因「{factor}」の水準が1つのため比較はない。",
    ),
    "method_mixed": (
        (
            "Changes are estimated on logarithms with the block as random factor (two levels: by "
            "their differences within blocks; more: by a mixed model). The intervals hold together "
            "for all changes of a response with 95% confidence, and “same” means that two "
            "one-sided tests excluded a difference of {margin}."
        ),
        (
            "変化は対数で、ブロックを変量効果として推定した（2水準ではブロック内の差、3水準以上では"
            "混合モデルによる）。区間は同じ指標の"
            "全ての比較に対して同時に95%の信頼度を持つ。「同じ」は2つの片側検定で{margin}の差が"
            "否定されたことを意味する。"
        ),
    ),
    "method_always_valid": (
        (
            "This run was looked at after every block. Its intervals come from ratios within "
            "{n} blocks and are always valid: they hold for all changes of a response with 95% "
            "confidence however often one looks. “Same” means that the whole interval lies within "
            "the margin of {margin}."
        ),
        (
            "この実行はブロックごとに判定しながら続けた。区間は{n}ブロックの同一ブロック内の比から"
            "求めた常時有効な区間で、何度判定しても同じ指標の全ての比較に対して同時に95%の信頼度を"
            "持つ。「同じ」は区間全体が許容差{margin}に収まることを意味する。"
        ),
    ),
    "enumerate": (", ", "・"),
    "ended_decided": (
        "It ended after {blocks} blocks, when all changes of {what} were decided.",
        "{blocks}ブロック後、{what}の全ての変化が決着して終了した。",
    ),
    "ended_budget": (
        (
            "It ended after {blocks} block(s), when its time budget was spent; what was to be "
            "decided was {what}. `teiten run --resume` with a larger `--budget` goes on."
        ),
        (
            "{blocks}ブロック後、時間の予算を使い切って終了した（判定対象：{what}）。"
            "`teiten run --resume`と、より大きい`--budget`で続けられる。"
        ),
    ),
    "ended_last_block": (
        "It ended after {blocks} blocks, the most that it may have; to be decided was {what}.",
        "上限の{blocks}ブロックで終了した（判定対象：{what}）。",
    ),
    "not_decided_yet": (
        "It was cut off before all changes of {what} were decided.",
        "{what}の全ての変化が決着する前に中断された。",
    ),
    "cannot_show": (
        (
            "What {n} block(s) cannot show: a change of {response}{panel} below {size} is found "
            "in less than four of five such runs."
        ),
        (
            "{n}ブロックで示せないこと：{response}{panel}の{size}未満の変化は、同様の実行の5回中"
            "4回未満しか検出されない。"
        ),
    ),
    "faster": ("faster", "速い"),
    "slower": ("slower", "遅い"),
    "more": ("more", "多い"),
    "less": ("less", "少ない"),
    "decided_same": ("same within {margin}", "{margin}以内で同じ"),
    "undecided_unbounded": (
        "undecided, too few blocks for an interval",
        "未決（区間を求めるにはブロックが足りない）",
    ),
    "undecided_far": (
        "undecided, more blocks than any run has would be needed",
        "未決（現実的なブロック数では決まらない）",
    ),
    "undecided_one": (
        "undecided, 1 more block would decide",
        "未決（あと1ブロックで決まる見込み）",
    ),
    "undecided_blocks": (
        "undecided, {n} more blocks would decide",
        "未決（あと{n}ブロックで決まる見込み）",
    ),
    "interval_95": ("95% interval", "95%区間"),
    "detectable": ("Detectable", "検出可能な差"),
    "detectable_note": (
        (
            "Detectable: the smallest change that four of five runs like this one would find. "
            "“More blocks” is for 80% probability, if the estimate is the truth."
        ),
        (
            "検出可能な差：同様の実行の5回中4回で見つかる最小の変化。追加ブロック数は、推定値が真の"
            "値である場合に80%の確率で決着する数。"
        ),
    ),
    "cautions": (
        "What the verdicts do not allow for (tests adjusted together, 5%):",
        "結論が考慮していない事項（全検定をまとめて調整、5%水準）：",
    ),
    "caution_not_positive": (
        "{response}{panel}: no verdict, since it is zero in trial(s) {trials} and has no ratio.",
        "{response}{panel}：試行{trials}で0となり比が定まらないため、結論はない。",
    ),
    "caution_several_modes": (
        "{response}{panel}: the trials fall into several modes, not one (p = {p}).",
        "{response}{panel}：試行が複数の山に分かれている（p = {p}）。",
    ),
    "caution_outlier": (
        "{response}{panel}: trial(s) {trials} lie far from the others (p = {p}); all are included.",
        "{response}{panel}：試行{trials}が外れている（p = {p}）。集計には含めている。",
    ),
    "caution_drift": (
        "{response}{panel}: it drifted by {figure} over the run (p = {p}).",
        "{response}{panel}：実行中に{figure}変化した（p = {p}）。",
    ),
    "caution_carry_over": (
        (
            "{response}{panel}: a trial depends on which treatment ran before it, by up to "
            "{figure} (p = {p})."
        ),
        "{response}{panel}：直前の試行の条件に最大{figure}影響されている（p = {p}）。",
    ),
    "caution_unequal_spread": (
        "{response}{panel}: some treatments spread more than others (Levene, p = {p}).",
        "{response}{panel}：条件によってばらつきが異なる（Levene検定、p = {p}）。",
    ),
    "flagged_included": (
        "{n} of {all} trials are flagged (×) and included; see “Trials to be read with care”.",
        (
            "全{all}試行のうち{n}試行に注意印（×）があり、集計に含めている。"
            "「注意して読むべき試行」を参照。"
        ),
    ),
    "incomplete": (
        "The run is not complete: {done} of {planned} trials are there.",
        "この実行は途中である（{planned}試行のうち{done}試行が完了）。",
    ),
    "response": ("Response", "指標"),
    "change_overall": ("Change", "変化"),
    "verdict_table": (
        "Change to {reference}, all levels together",
        "{reference}に対する変化（全体）",
    ),
    "headline": ("{response}: change to {reference}", "{response}：{reference}に対する変化"),
    "headline_axis": ("Change to {reference}", "{reference}に対する変化"),
    "headline_caption": (
        (
            "Each dot is one block: a trial against the trial of {reference} in the same block. "
            "Lines join the ratios of medians; the band is the margin of ±{margin}. × marks pairs "
            "with a flagged trial."
        ),
        (
            "点は1ブロック（同じブロック内の{reference}の試行との比）、線は中央値の比。"
            "帯は±{margin}の許容差。×は注意印のある試行を含む組。"
        ),
    ),
}
