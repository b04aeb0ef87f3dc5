/// The style of a report: one column, in the colours of the reader's choice, down to the width of a phone.
enum ReportStyle {
  static let sheet = """

    :root {
      --page: #f6f7f9; --card: #ffffff; --text: #17202a; --faint: #5b6673; --edge: #dde2e8;
      --live: #0d8a72; --history: #d98e04; --dead: #c8324a; --other: #7a8ba3; --free: #c9d1da;
      --track: #f1f3f6; --delta: #3b78d8; --full: #8a5cd1;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --page: #12161b; --card: #1b2129; --text: #e6eaef; --faint: #98a4b1; --edge: #2e3742;
        --live: #2bb597; --history: #e5a93b; --dead: #e8607a; --other: #7f91a9; --free: #45515f;
        --track: #232a33; --delta: #6aa1f4; --full: #b08cf0;
      }
    }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--page); color: var(--text); line-height: 1.45;
      font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
    main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
    header p { margin: 0; color: var(--faint); overflow-wrap: anywhere; }
    h1 { margin: 0; font-size: 1.7rem; overflow-wrap: anywhere; }
    h2 { margin: 0 0 .75rem; font-size: 1.1rem; }
    p { color: var(--faint); margin: .6rem 0 0; font-size: .9rem; }
    section { background: var(--card); border: 1px solid var(--edge); border-radius: .6rem;
      padding: 1rem 1.1rem; margin-top: 1rem; }
    .warning { border-color: var(--dead); border-width: 2px; }
    .warning h2 { color: var(--dead); }
    .warning li { overflow-wrap: anywhere; }
    .tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: 1rem; }
    .tiles b { display: block; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
    .tiles span { color: var(--faint); font-size: .85rem; }
    .legend { list-style: none; display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; margin: .7rem 0 .9rem;
      padding: 0; font-size: .85rem; color: var(--faint); }
    .legend b { color: var(--text); font-weight: 600; }
    .legend i { display: inline-block; width: .8em; height: .8em; border-radius: .2em;
      margin-right: .45em; vertical-align: -.05em; }
    .bars { display: grid; grid-template-columns: max-content 1fr max-content; gap: .55rem .8rem;
      align-items: center; font-size: .9rem; }
    .bars small { color: var(--faint); margin-left: .6em; font-size: .85em; }
    .figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
    .bar { display: block; width: 100%; height: 1.05rem; border-radius: .25rem; }
    .track { fill: var(--track); }
    .live, .insert { fill: var(--live); background: var(--live); }
    .history, .catalogue { fill: var(--history); background: var(--history); }
    .dead, .delete { fill: var(--dead); background: var(--dead); }
    .other { fill: var(--other); background: var(--other); }
    .free { fill: var(--free); background: var(--free); }
    .delta { fill: var(--delta); background: var(--delta); }
    .fullImage { fill: var(--full); background: var(--full); }
    .charts { display: grid; grid-template-columns: 1fr 1fr; gap: 1.5rem; }
    figure { margin: 0; min-width: 0; }
    figcaption { font-size: .9rem; color: var(--faint); margin-bottom: .35rem; }
    figcaption b { color: var(--text); margin-left: .3em; font-variant-numeric: tabular-nums; }
    .chart { position: relative; }
    .chart svg { display: block; width: 100%; height: 11rem; border-bottom: 1px solid var(--other); }
    .chart .top { position: absolute; top: .15rem; left: .1rem; font-size: .75rem; color: var(--faint); }
    .axis { display: flex; justify-content: space-between; gap: 1rem; font-size: .75rem;
      color: var(--faint); margin-top: .25rem; font-variant-numeric: tabular-nums; }
    .axis span:last-child { text-align: right; }
    .grid { stroke: var(--edge); stroke-width: 1; fill: none; vector-effect: non-scaling-stroke; }
    .area { fill-opacity: .18; background: none; }
    .line { fill: none; background: none; stroke-width: 2; vector-effect: non-scaling-stroke;
      stroke: var(--other); }
    .line.live { stroke: var(--live); }
    .scroll { overflow-x: auto; }
    table { border-collapse: collapse; width: 100%; font-size: .9rem; }
    th { color: var(--faint); font-weight: 500; text-align: left; }
    th.figure { text-align: right; }
    th, td { padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--edge); white-space: nowrap; }
    th:last-child, td:last-child { padding-right: 0; }
    tbody tr:last-child td { border-bottom: 0; }
    footer { color: var(--faint); font-size: .8rem; margin-top: 1.2rem; }
    @media (max-width: 40rem) {
      main { padding: 1rem .7rem 2rem; }
      .charts { grid-template-columns: 1fr; }
      .bars { gap: .5rem .6rem; font-size: .85rem; }
      .bars small { display: block; margin: 0; }
      section { padding: .9rem; }
      .tiles { grid-template-columns: 1fr 1fr; gap: .7rem; }
      table, tbody { display: block; }
      thead { display: none; }
      tr { display: grid; grid-template-columns: repeat(4, 1fr); gap: .35rem .6rem;
        padding: .6rem 0; border-bottom: 1px solid var(--edge); }
      tr:last-child { border-bottom: 0; }
      td, td.figure { border: 0; padding: 0; text-align: left; white-space: normal; }
      td:first-child { grid-column: 1 / -1; font-weight: 600; overflow-wrap: anywhere; }
      td:not(:first-child)::before { content: attr(data-label); display: block; color: var(--faint);
        font-size: .8em; }
    }
    @media print { body { background: none; } section { break-inside: avoid; } }

    """
}
