"""Every sentence of a report, in English and Japanese, in one place."""
# ruff: noqa: RUF001 - Japanese punctuation is meant

from __future__ import annotations

from dataclasses import dataclass

_LANGUAGES = ("en", "ja")

WORDS: dict[str, tuple[str, str]] = {
    # Verdict
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
            "Changes are estimated on logarithms by a mixed model with the block as random "
            "factor; the intervals hold together for all changes of a response with 95% "
            "confidence, and “same” means that two one-sided tests excluded a difference of "
            "{margin}."
        ),
        (
            "変化は対数に対する混合モデル（ブロックを変量効果とする）で推定した。区間は同じ指標の"
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
    "undecided": ("undecided", "未決"),
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
    # What was asked
    "asked": ("What was asked, and how", "検証内容と方法"),
    "design": (
        (
            "{treatments} treatments in {blocks} block(s), {trials} trials. Every treatment runs "
            "once in every block, in a fresh random order (seed {seed}); a server that teiten owns "
            "is started anew for every trial. Medians over the blocks are reported."
        ),
        (
            "{treatments}条件×{blocks}ブロック、計{trials}試行。各ブロックで全条件を1回ずつ、"
            "ブロックごとに新しいランダムな順序で実行した（乱数シード{seed}）。teitenが"
            "管理するサーバーは試行ごとに起動し直した。結果にはブロックにわたる中央値を採用した。"
        ),
    ),
    "factors": ("Factors", "要因"),
    "factor": ("Factor", "要因"),
    "levels": ("Levels", "水準"),
    "role": ("Role", "役割"),
    "role_compared": ("compared; reference {reference}", "比較対象（基準 {reference}）"),
    "role_x": ("along the x axis", "横軸"),
    "role_panel": ("separate panels", "区分"),
    "role_fixed": ("one level", "固定"),
    "setup": ("Set-up common to all trials", "全試行に共通の設定"),
    "key": ("Key", "項目"),
    "value": ("Value", "値"),
    "settings": (
        "Settings common to all trials (postgresql.conf)",
        "共通の設定（postgresql.conf）",
    ),
    "script": ("Load script {name}", "負荷スクリプト {name}"),
    # Throughput and latency
    "throughput": ("Throughput and latency", "スループットとレイテンシ"),
    "trend_caption": (
        "Each dot is one trial; lines join the medians over the blocks. × marks flagged trials.",
        "点は1試行、線はブロックにわたる中央値。×は注意印のある試行。",
    ),
    "trend_caption_ticks": (
        "Each dot is one trial; bars are the medians over the blocks. × marks flagged trials.",
        "点は1試行、横棒はブロックにわたる中央値。×は注意印のある試行。",
    ),
    "log_scale": ("logarithmic scale", "対数軸"),
    "trend_description": (
        "{response} by {x}, one line for each {compared}. Medians: {medians}.",
        "{x}ごとの{response}（{compared}別）。中央値：{medians}。",
    ),
    "medians_table": ("{response}: medians (lowest–highest)", "{response}：中央値（最小～最大）"),
    # Ratios
    "ratios": ("Ratios to {reference}", "{reference}に対する比"),
    "ratio_to": ("{level} / {reference}", "{level} / {reference}"),
    "overall": ("all (95% interval)", "全体（95%区間）"),
    "ratio_note": (
        (
            "Ratio of medians; in brackets the range of the ratios within blocks. Coloured: "
            "further from 1 than the margin of {margin}, and on the same side of 1 in every block. "
            "“All” is the estimate of the verdict, with its 95% interval."
        ),
        (
            "中央値の比。括弧内は同一ブロック内の比の範囲。色付きは、1からの差が許容差{margin}を"
            "超え、かつ全ブロックで1の同じ側にあるもの。「全体」は結論の推定値と95%区間。"
        ),
    ),
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
    # Efficiency
    "efficiency": ("Work per transaction", "トランザクションあたりの処理量"),
    "efficiency_text": (
        (
            "Instructions and CPU time per transaction of the whole server process tree. Counts of "
            "instructions barely depend on what else the machine does, so they resolve differences "
            "that throughput cannot."
        ),
        (
            "サーバーの全プロセスについての、トランザクションあたりの命令数とCPU時間。命令数は"
            "マシンの他の負荷にほとんど左右されないため、TPSでは分からない差も分かる。"
        ),
    ),
    "change_of": ("{response}: change to {reference}", "{response}：{reference}に対する変化"),
    # CPU
    "cpu": ("CPU", "CPU"),
    "cpu_modes": ("CPU by mode", "CPU利用率の内訳"),
    "cpu_axis": ("CPU of all cores [%]", "CPU利用率（全コア）[%]"),
    "cpu_modes_caption": (
        (
            "Mean over the measured time and the blocks; 100% is all cores. %usr includes nice and "
            "guest time, %soft hardware and software interrupts."
        ),
        (
            "測定時間とブロックにわたる平均。100%は全コア。%usrはniceとguestを、%softは"
            "ハードウェア・"
            "ソフトウェア割り込みの両方を含む。"
        ),
    ),
    "cpu_modes_description": (
        "Stacked bars of CPU time by mode for every {x} and {compared}. Busy: {busy}.",
        "{x}・{compared}ごとのCPU時間の内訳（積み上げ棒）。使用率：{busy}。",
    ),
    "cores": ("CPU by core over time: {what}", "コア別CPU利用率の推移：{what}"),
    "cores_busy": ("Busy [%]", "使用率 [%]"),
    "cores_soft": ("%soft [%]", "%soft [%]"),
    "cores_caption": (
        (
            "Trial {trial} (block {block}), the one nearest the median throughput at the highest "
            "level of {x}. Means over {step} s. Busy is all time but idle and waiting for I/O."
        ),
        (
            "試行{trial}（ブロック{block}）。{x}の最大水準のうちTPSが中央値に最も近い試行。"
            "{step}秒ごとの"
            "平均。使用率はアイドルとI/O待ち以外の時間。"
        ),
    ),
    "cores_caption_one": (
        (
            "Trial {trial} (block {block}), the one nearest the median throughput of its level. "
            "Means over {step} s. Busy is all time but idle and waiting for I/O."
        ),
        (
            "試行{trial}（ブロック{block}）。その水準でTPSが中央値に最も近い試行。"
            "{step}秒ごとの平均。"
            "使用率はアイドルとI/O待ち以外の時間。"
        ),
    ),
    "cores_description": (
        (
            "Two heat maps of {n} cores over time. Mean busy {busy}%; highest mean %soft {soft}% "
            "on "
            "core {core}."
        ),
        (
            "{n}コアの時間推移のヒートマップ2枚。平均使用率{busy}%、%softが最大のコアは{core}"
            "（平均{soft}%）。"
        ),
    ),
    "soft": ("Interrupt work by core", "コア別の割り込み処理"),
    "soft_caption": (
        (
            "%soft (hardware and software interrupts) of each core, mean over the measured time "
            "and "
            "the blocks."
        ),
        "コアごとの%soft（ハードウェア・ソフトウェア割り込み）。測定時間とブロックにわたる平均。",
    ),
    "soft_description": (
        "Heat maps of %soft by core and {x}; the highest is {soft}% on core {core}.",
        "コアと{x}ごとの%softのヒートマップ。最大はコア{core}の{soft}%。",
    ),
    "interrupts": (
        "Busiest interrupts of trial {trial} ({what})",
        "試行{trial}の主な割り込み（{what}）",
    ),
    "interrupt": ("Interrupt", "割り込み"),
    "source": ("Source", "発生元"),
    "per_s": ("Per second", "毎秒"),
    "cpus": ("CPUs that took nine tenths", "9割を処理したCPU"),
    "evenly": ("spread over all", "全体に分散"),
    "time_s": ("Time in the measurement [s]", "測定開始からの時間 [s]"),
    "core": ("Core", "コア"),
    # Memory, disk, network
    "resources": ("Memory, disk, network and WAL", "メモリ・ディスク・ネットワーク・WAL"),
    "devices": (
        "Disks and networks in trial {trial} ({what})",
        "試行{trial}のディスクとネットワーク（{what}）",
    ),
    "device": ("Device", "デバイス"),
    "device_in": ("Read or received [MiB/s]", "読み込み・受信 [MiB/s]"),
    "device_out": ("Written or sent [MiB/s]", "書き込み・送信 [MiB/s]"),
    "device_util": ("Busy [%]", "使用率 [%]"),
    "device_wait": ("Wait [ms]", "待ち時間 [ms]"),
    # Course of the run
    "course": ("Course of the run", "実行の経過"),
    "seconds": ("Throughput second by second", "1秒ごとのTPS"),
    "seconds_caption": (
        "One line a trial; a dip is a stall.",
        "線は1試行。落ち込みは停止を示す。",
    ),
    "seconds_thinned": (
        "Lines are thinned: of every {step} s the lowest and the highest second are drawn.",
        "線は間引いてあり、{step}秒ごとに最小と最大の1秒を描いている。",
    ),
    "seconds_description": (
        "Small panels of transactions by second, one for each {x}; a line for each of {n} trials.",
        "{x}ごとの小さな図に、{n}試行の1秒ごとのTPSを1本ずつの線で示す。",
    ),
    "order": ("Order of the run: {response}", "実行順：{response}"),
    "order_axis": ("Against the treatment's median", "条件の中央値との差"),
    "order_trial": ("Trial, in the order of the run", "試行（実行順）"),
    "order_caption": (
        (
            "Each trial against the median of its treatment. A slope or a step is drift of the "
            "machine, not an effect of a factor. × marks flagged trials."
        ),
        (
            "各試行を同じ条件の中央値と比べた値。傾きや段差は要因の効果ではなくマシンの変動を示す。"
            "×は注意印のある試行。"
        ),
    ),
    "order_description": (
        "{n} trials in run order; the furthest is {far} from its treatment's median.",
        "実行順に{n}試行。条件の中央値から最も離れた試行は{far}。",
    ),
    "block": ("Block", "ブロック"),
    "flagged": ("Trials to be read with care", "注意して読むべき試行"),
    "none_flagged": ("No trial is flagged.", "注意印のある試行はない。"),
    "trial": ("Trial", "試行"),
    "treatment": ("Treatment", "条件"),
    "why": ("Why", "理由"),
    # Environment, reproduction
    "environment": ("Environment", "環境"),
    "no_environment": (
        "The run was cut off before the machine was described.",
        "マシンの記録の前に実行が中断された。",
    ),
    "env_machine": ("Machine", "マシン"),
    "env_servers": ("Servers", "サーバー"),
    "env_builds": ("Servers: how they were built", "サーバーのビルド情報"),
    "also_differ": (
        "Besides their version the servers differ in: {what}.",
        "サーバーはバージョンのほかに次の点も異なる：{what}。",
    ),
    "env_client": ("Client", "クライアント"),
    "different": ("values that differ are marked ◆", "◆は値が異なる項目"),
    "reproduce": ("How to reproduce", "再現方法"),
    "reproduce_text": (
        (
            "Save the study below as study.toml (it is also in the run's folder, with the load "
            "scripts in it) and run:"
        ),
        (
            "下記を study.toml として保存し（実行フォルダーにも同じものがある。"
            "負荷スクリプトも含む）、"
            "次を実行する："
        ),
    ),
    "reproduce_took": (
        (
            "This run was made by teiten {teiten} with pgbench {pgbench}; its {trials} trials took "
            "{duration}, from {begin} to {end} (UTC). The seed {seed} gives the same order of "
            "trials."
        ),
        (
            "この実行は teiten {teiten}、pgbench {pgbench} による。{trials}試行に{duration}を要した"
            "（{begin}～{end} UTC）。乱数シード{seed}により試行の順序も同じになる。"
        ),
    ),
    "command": ("Command", "コマンド"),
    "study_file": ("study.toml as resolved", "study.toml（展開後）"),
    "missing": ("What was not recorded", "記録されなかったもの"),
    "all_recorded": (
        "Everything that the study asks for was recorded.",
        "求めた指標はすべて記録された。",
    ),
    "missing_response": ("Not recorded in any trial: {names}.", "どの試行でも記録なし：{names}。"),
    # Calibration of the host
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
    "calibrated_run": (
        (
            "If its noise is like that, this run of {blocks} blocks ({minutes} of machine time) "
            "finds with 80% probability a change of {what}."
        ),
        (
            "ノイズが同程度なら、この{blocks}ブロックの実行（マシン時間{minutes}）が80%の確率で"
            "検出できる変化：{what}。"
        ),
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
    # History of a study (teiten trend)
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
    # Frame of the page
    "contents": ("Contents", "目次"),
    "question": ("Question", "問い"),
    "figures_as_table": ("Figures as a table", "数値を表で見る"),
    "run_line": ("Run {name}, {begin} (UTC)", "実行 {name}、{begin}（UTC）"),
    "made_by": ("Made by teiten {version}.", "teiten {version} により作成。"),
}


@dataclass(frozen=True)
class Words:
    """The words of one language; call it with a key and the values of the sentence."""

    language: str

    def __call__(self, key: str, **values: object) -> str:
        """The sentence `key` with its values filled in."""
        return WORDS[key][_LANGUAGES.index(self.language)].format(**values)
