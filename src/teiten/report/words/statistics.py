"""Words of the published analysis, in reports and in `teiten analyse`."""
# ruff: noqa: RUF001 - Japanese punctuation is meant

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    # Statistics: the published analysis
    "statistics": ("Statistics", "統計解析"),
    "title_of": ("{what}: {title}", "{what}：{title}"),
    "too_few_to_analyse": (
        (
            "{what}: {n} trials in {blocks} block(s) are too few for tests; every treatment is "
            "needed in 2 blocks or more."
        ),
        (
            "{what}：{blocks}ブロックの{n}試行では検定できない。全条件を2ブロック以上で測定する"
            "必要がある。"
        ),
    ),
    "nothing_varies": (
        "{what}: nothing varies but by treatment and block, so there is nothing to test against.",
        "{what}：条件とブロック以外による変動がないため、検定できない。",
    ),
    "left_out": (
        "{x} {labels}: left out, since some level has no trial there.",
        "{x} {labels}：試行のない水準があるため除外した。",
    ),
    "framed_note": (
        (
            "Framed (marked {mark} in plain text): differs significantly from {reference} at 5% by "
            "the post-hoc contrasts under “Statistics”, where {responses} are tested."
        ),
        (
            "枠（テキストでは{mark}印）：「統計解析」の下位検定で{reference}と5%水準で有意に異なる"
            "もの。検定の対象は{responses}。"
        ),
    ),
    "framed_caption": (
        "Framed: differs significantly from {reference} (post-hoc contrasts, 5%).",
        "枠：{reference}と有意に異なる（下位検定、5%水準）。",
    ),
    "tests_defined": (
        (
            "Each term is tested on its own aligned ranks (ART) by a linear mixed model with the "
            "blocks and their interactions as random effects (REML), with Kenward-Roger degrees of "
            "freedom; contrasts are those of ART-C with Tukey's adjustment: as the R packages "
            "ARTool, lme4 and emmeans define them."
        ),
        (
            "各項は、それぞれの整列ランク（ART）について、ブロックとその交互作用を変量効果とする"
            "線形混合モデル（REML）とKenward-Rogerの自由度により検定する。対比はART-Cの"
            "Tukey調整による。定義はRのARTool・lme4・emmeansと同じ。"
        ),
    ),
    "model": ("Model: {formula}", "モデル：{formula}"),
    "blocks_cannot_show": (
        (
            "What {blocks} blocks cannot show: the test of {term} has F({df}, {df_residual}), so "
            "it is significant at 5% only above F = {critical}; {more} blocks would give "
            "F({df}, {df_more}) and {critical_more}."
        ),
        (
            "{blocks}ブロックの限界：{term}の検定はF({df}, {df_residual})であり、"
            "Fが{critical}を超えないと5%水準で有意にならない。{more}ブロックなら"
            "F({df}, {df_more})で{critical_more}となる。"
        ),
    ),
    "levene": ("Levene's test of equal variances", "ルビーンの等分散性検定"),
    "levene_centre": ("Deviations from", "偏差の基準"),
    "levene_mean": ("mean", "平均"),
    "levene_median": ("median", "中央値"),
    "levene_log_median": ("median, of logarithms", "中央値（対数）"),
    "levene_line": (
        "Levene's test of equal variances: {tests}.",
        "ルビーンの等分散性検定：{tests}。",
    ),
    "levene_test": (
        "about the {centre} F({df}, {df_residual}) = {f}, p {p}",
        "{centre}を基準にF({df}, {df_residual}) = {f}、p {p}",
    ),
    "no_levene": (
        "The trials are too few for Levene's test of equal variances.",
        "試行数が少ないため、ルビーンの等分散性検定はできない。",
    ),
    "anova": (
        "Analysis of variance of aligned rank transformed data",
        "整列ランク変換したデータの分散分析",
    ),
    "anova_note": (
        (
            "Type III F tests with Kenward-Roger degrees of freedom; mixed model; response: "
            "art({response}). Signif. codes: {codes}"
        ),
        (
            "Type III F検定（Kenward-Rogerの自由度）、混合モデル、応答変数：art({response})。"
            "有意水準の記号：{codes}"
        ),
    ),
    "term": ("Term", "項"),
    "posthoc": ("Post-hoc contrasts (ART-C)", "下位検定（ART-C）"),
    "posthoc_note": (
        (
            "In ranks. Degrees-of-freedom method: kenward-roger. P value adjustment: tukey method "
            "for comparing a family of {n} estimates. Signif. codes: {codes}"
        ),
        (
            "単位は順位。自由度：Kenward-Roger法。p値：{n}個の推定値の族に対するTukey調整。"
            "有意水準の記号：{codes}"
        ),
    ),
    "contrast": ("Contrast", "対比"),
    "log_changes": ("Changes by the model of logarithms", "対数モデルによる変化率"),
    "log_changes_note": (
        (
            "The same mixed model of the response's logarithm, written back as changes. Each 95% "
            "interval is for its own row, not adjusted for the number of rows."
        ),
        (
            "応答変数の対数に同じ混合モデルを当て、変化率に戻した値。95%信頼区間は各行ごとのもので、"
            "行数による調整はしていない。"
        ),
    ),
    "change": ("Change", "変化"),
    "interval": ("95% interval", "95%信頼区間"),
    "all_levels": ("all", "全体"),
    "signif_codes": ("Signif. codes: {codes}", "有意水準の記号：{codes}"),
    "no_log_model": (
        "Some values are not positive, so there is no model of logarithms.",
        "正でない値があるため、対数モデルはない。",
    ),
    # teiten analyse
    "analysis_of": ("Analysis of {file}", "{file}の統計解析"),
    "analysis_line": (
        "{responses} by {factors}; blocks: {block}",
        "{factors}による{responses}、ブロック：{block}",
    ),
    "measured": (
        "{n} trials of {treatments} treatments in {blocks} blocks; reference {reference}.",
        "{treatments}条件×{blocks}ブロックの{n}試行。基準は{reference}。",
    ),
    "trials_lost": (
        "{n} trial(s) without a value: line {lines}.",
        "値のない試行が{n}件ある（{lines}行目）。",
    ),
    "trials_untried": (
        "{n} treatment(s) missing from a block.",
        "ブロックに欠けている条件が{n}件ある。",
    ),
    "trials_repeated": (
        "{n} treatment(s) tried more than once in a block, taken as replicates.",
        "同じブロックで複数回測定された条件が{n}件あり、反復として扱った。",
    ),
}
