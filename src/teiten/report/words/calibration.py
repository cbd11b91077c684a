"""Words of what is known of the host's noise."""
# ruff: noqa: RUF001 - Japanese punctuation is meant

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    "calibration": ("Calibration of this host", "ホストの校正（A/A試験）"),
    "uncalibrated": (
        "This host has not been calibrated: run `teiten calibrate`.",
        "このホストは校正されていない（`teiten calibrate` を実行）。",
    ),
    "calibrated_alarms": (
        (
            "On this host an A/A run of {date} ({blocks} blocks, {server} under two names) raised "
            "{count} false alarms in {of} verdicts of {size} blocks each (95% interval of the "
            "rate: {lower} to {upper}; promised: at most 5%)."
        ),
        (
            "このホストでの{date}のA/A試験（{blocks}ブロック、{server}を2つの名前で比較）では、"
            "{size}ブロックずつの判定{of}件のうち{count}件が誤検出だった"
            "（発生率の95%区間：{lower}～{upper}、想定は5%以下）。"
        ),
    ),
    "calibrated_too_few": (
        (
            "On this host an A/A run of {date} ({server} under two names) has {blocks} blocks: too "
            "few to count false alarms."
        ),
        (
            "このホストでの{date}のA/A試験（{server}を2つの名前で比較）は{blocks}ブロックのみで、"
            "誤検出を数えるには足りない。"
        ),
    ),
    "calibrated_noise": (
        "Noise floor, as the standard deviation of the ratio of one pair of trials: {what}.",
        "ノイズフロア（1組の試行の比の標準偏差）：{what}。",
    ),
    "calibrated_response": ("{response} {figures}", "{response} {figures}"),
    "calibrated_figure": ("{figure} ({group})", "{figure}（{group}）"),
    "comma": (", ", "、"),
    "with_interval": ("{value} ({lower} … {upper})", "{value} ({lower} … {upper})"),
    "share": ("{count} of {of} ({lower} … {upper})", "{count}/{of} ({lower} … {upper})"),
    "trials_group": ("Trials", "試行の区分"),
    "all_trials": ("all", "全体"),
    "false_alarms": ("False alarms", "誤検出"),
    "false_alarms_note": (
        (
            "The same server under two names: every difference found is a false alarm. The "
            "{blocks} blocks are split into disjoint runs of {size}, each judged by itself. In "
            "brackets the 95% interval of the rate: exact (Clopper and Pearson); for all verdicts "
            "together that of as many independent ones as they are worth by their correlations. "
            "Verdicts: per response, at most 5% of runs raise any. Published: aligned ranks, "
            "Tukey, 5% for each. Threshold: ratio of medians beyond ±2.5%."
        ),
        (
            "同一サーバーを2つの名前で比較したので、検出された差はすべて誤りである。{blocks}ブロックを"
            "重なりなく{size}ブロックずつに分け、それぞれを1回の実行として判定した。括弧内は発生率の"
            "95%区間（Clopper–Pearson。全判定をまとめた行は、相関から求めた独立な判定の数による）。"
            "結論：指標ごとに、誤検出のある実行は最大5%。公表手順：整列順位、Tukey、各5%。"
            "固定閾値：中央値の比が±2.5%を超えるもの。"
        ),
    ),
    "procedure_verdict": ("Verdicts of teiten", "teitenの結論"),
    "procedure_published": ("Published protocol", "公表手順"),
    "procedure_threshold": ("Fixed 2.5% threshold", "固定閾値2.5%"),
    "any_alarm": ("Runs of {size} blocks with any", "{size}ブロックの実行（1つ以上）"),
    "all_verdicts": ("All verdicts", "全判定"),
    "noise_floor": ("Noise floor", "ノイズフロア"),
    "noise_note": (
        (
            "Spread: standard deviation of the log ratio of one A/A pair of trials, with its 95% "
            "interval. Between trials: standard deviation that no longer trial takes away. Within: "
            "that of one second, which falls with the square root of the trial's length. A "
            "response without a series by second has only its total (-)."
        ),
        (
            "ばらつき：A/A試行1組の対数比の標準偏差と95%区間。試行間：試行を長くしても減らない"
            "標準偏差。"
            "試行内：1秒あたりの標準偏差で、試行の長さの平方根に反比例して減る。1秒ごとの系列が"
            "ない指標は合計のみ（-）。"
        ),
    ),
    "spread": ("Spread of a pair", "1組のばらつき"),
    "between_trials": ("Between trials", "試行間"),
    "within_trials": ("Within, one second", "試行内（1秒）"),
    "trial_takes": ("A trial takes [s]", "1試行の時間 [s]"),
    "findable": (
        "Smallest change found, by machine time",
        "検出できる最小の変化（マシン時間別）",
    ),
    "findable_note": (
        (
            "Found with 80% probability by a two-sided paired t-test at 5% over the blocks, if "
            "trials are as long as here. -: the time does not hold two pairs."
        ),
        (
            "ブロックにわたる対応のあるt検定（両側5%）で、同じ長さの試行により80%の確率で検出できる"
            "変化。-：2組の試行が収まらない。"
        ),
    ),
    "minutes": ("{n} min", "{n}分"),
    "designs": ("Cheapest design that finds {margin}", "{margin}を検出する最小の計画"),
    "designs_note": (
        (
            "The least machine time that finds a change of {margin} with 80% probability; trials "
            "of {shortest} to {longest} s were considered where the parts of the spread are known, "
            "else trials as long as here (=). ◆: beyond a day."
        ),
        (
            "{margin}の変化を80%の確率で検出する最小のマシン時間。ばらつきの内訳が分かる指標では"
            "{shortest}～{longest}秒の試行を、その他は今回と同じ長さ（=）を検討した。◆：1日を超える。"
        ),
    ),
    "trial_length": ("Trial [s]", "試行 [s]"),
    "blocks": ("Blocks", "ブロック数"),
    "machine_time": ("Machine time", "マシン時間"),
}
