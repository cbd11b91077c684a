"""Words of what was asked and of what was seen, from throughput to the course of the run."""
# ruff: noqa: RUF001 - Japanese punctuation is meant

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
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
}
