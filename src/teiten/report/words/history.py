"""Words of the history of a study."""
# ruff: noqa: RUF001 - Japanese punctuation is meant

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    "history": ("History", "推移"),
    "history_title": ("{title}: history of {response}", "{title}：{response}の推移"),
    "history_line": (
        "{n} runs of {study} from {begin} to {end} (UTC)",
        "{study}の{n}回の実行、{begin}～{end}（UTC）",
    ),
    "history_found": (
        "{what}: {change}{interval} between {before} and {after}{place}.",
        "{what}：{before}から{after}の間に{change}{interval}{place}。",
    ),
    "history_interval": (" (95% interval {range})", "（95%区間 {range}）"),
    "history_unbounded": (
        " (too few runs on one side to bound it)",
        "（片側の実行が少なく区間を定められない）",
    ),
    "history_place": (
        "; the first run of the new level is one of those from {first} to {last} (95%)",
        "、新しい水準の最初の実行は{first}から{last}までのいずれか（95%）",
    ),
    "history_none": ("No change of level was found.", "水準の変化は見つからなかった。"),
    "history_rate": (
        (
            "If nothing ever changed, at most {rate} of such histories would show any change "
            "point. To keep to that, each of {n} unbroken line(s) was tested at {alpha}. A change "
            "cannot show before there are {least} runs of the new level."
        ),
        (
            "実際に変化がない場合、変化点が1つでも示されるのはこのような推移の最大{rate}である。"
            "そのため、途切れのない{n}本の線をそれぞれ水準{alpha}で検定した。新しい水準の実行が"
            "{least}回になるまで変化は検出できない。"
        ),
    ),
    "history_short": (
        (
            "Lines of {n} run(s) are too short to show a change; {fewest} are needed, even if it "
            "were perfectly clear ({what})."
        ),
        (
            "{n}回の実行の線は変化を示すには短すぎる。どれほど明らかな変化でも{fewest}回が必要である"
            "（{what}）。"
        ),
    ),
    "history_dependent": (
        (
            "{what}: runs resemble their neighbours more than chance makes them (serial "
            "correlation {r}, p = {p}), so false change points are more likely than stated."
        ),
        (
            "{what}：隣り合う実行が偶然より似ている（系列相関{r}、p = {p}）ため、誤った変化点が"
            "上記の割合より多く現れる。"
        ),
    ),
    "history_left_out": (
        "Without a value in some line: {runs} ({reason}).",
        "値のない線がある実行：{runs}（{reason}）。",
    ),
    "history_not_recorded": ("the response was not recorded", "指標の記録なし"),
    "history_no_trial": ("no complete trial", "完了した試行なし"),
    "history_not_positive": ("a value is not positive", "正でない値がある"),
    "history_not_complete": (
        "not one complete trial in every treatment",
        "全条件の試行が揃っていない",
    ),
    "history_unread": ("Not read: {sentence}", "読み込めない：{sentence}"),
    "history_empty": (
        "Without a complete trial: {runs}.",
        "完了した試行のない実行：{runs}。",
    ),
    "history_axis_relative": (
        "{response}: change to {reference}",
        "{response}：{reference}に対する変化",
    ),
    "history_when": ("Begin of the run", "実行の開始"),
    "history_caption": (
        (
            "Each point is the geometric mean of a run ({over}); its bar is the range over "
            "complete blocks. The axis does not begin at zero. Lines join runs of one host and "
            "one set-up; hollow points are of another host or set-up than the newest. Solid "
            "upright lines are change points, the shade is where the first run of the new level "
            "may be (95%). × marks runs with a flagged trial."
        ),
        (
            "点は1回の実行の幾何平均（{over}）、縦棒は揃ったブロックの範囲。縦軸は0から始まらない。"
            "線は同じホスト・同じ設定の実行を結ぶ。白抜きの点は最新と異なるホストまたは設定。"
            "縦の実線は変化点、帯は新しい水準の最初の実行があり得る範囲（95%）。"
            "×は注意印のある試行を含む実行。"
        ),
    ),
    "history_caption_under": (
        " Grey diamonds are published figures, which nothing is computed from.",
        "灰色の菱形は公表値で、計算には用いていない。",
    ),
    "history_over_blocks": ("over blocks", "ブロックにわたる"),
    "history_over_x": ("over blocks and levels of {x}", "ブロックと{x}の水準にわたる"),
    "history_at_x": ("over blocks, at {x} {at}", "{x} {at}、ブロックにわたる"),
    "history_description": (
        "{response} of {n} runs over time. {sentences}",
        "{n}回の実行の{response}の推移。{sentences}",
    ),
    "history_break_gap": ("no run for {days} days", "{days}日間実行なし"),
    "history_break_host": ("another host", "ホスト変更"),
    "history_break_setup": ("another set-up", "設定変更"),
    "history_breaks": ("Where lines are broken", "線の途切れ"),
    "history_break": (
        "Between {before} and {after} ({what}): {kind}{details}.",
        "{before}から{after}の間（{what}）：{kind}{details}。",
    ),
    "history_details": (" ({text})", "（{text}）"),
    "history_and": ("; ", "；"),
    "history_no_break": (
        "All runs stand on unbroken lines.",
        "すべての実行が途切れのない線上にある。",
    ),
    "history_host_unknown": ("not described in the run", "実行に記録がない"),
    "history_runs": ("Runs", "実行"),
    "history_table": ("{response}: {what}", "{response}：{what}"),
    "history_began": ("Began (UTC)", "開始（UTC）"),
    "history_run": ("Run", "実行名"),
    "history_value": ("Mean (range over blocks)", "平均（ブロックの範囲）"),
    "history_change": ("To the one before", "前回比"),
    "history_remarks": ("Remarks", "備考"),
    "history_point": ("change point: {change}", "変化点：{change}"),
    "history_newline": ("new line: {kind}", "新しい線：{kind}"),
    "history_flagged": ("{n} flagged trial(s)", "注意印の試行{n}件"),
    "history_means": ("is now {what}", "以後は{what}"),
    "history_earlier": (
        "{n} earlier run(s) are in the page that --format html writes.",
        "以前の{n}回は --format html のページにある。",
    ),
    "history_published": ("Published figures", "公表値"),
    "history_date": ("Date", "日付"),
    "history_source": ("Label", "名称"),
    "history_method": ("Method", "方法"),
    "history_method_text": (
        (
            "A permutation test on ranks says whether a line changes at all; only then is it "
            "split, and each side is searched again. It holds for noise of any distribution, if "
            "runs do not depend on one another. Intervals of sizes are those of the rank-sum test "
            "at the place found, and a change that was picked out for being large looks larger "
            "than it is."
        ),
        (
            "線に変化があるかを順位の並べ替え検定で判定し、変化がある場合にのみ分割して両側を"
            "さらに調べる。実行どうしが独立なら、雑音の分布によらず成り立つ。大きさの区間は"
            "見つかった位置での順位和検定による。大きいために選ばれた変化は実際より大きく見える。"
        ),
    ),
}
