/// The style of pictures, by light and by night.
enum Style {
  /// The colours of a contender on white and on near-black: ours stand out, floors stay back.
  private static let colours: [(contender: String, light: String, dark: String)] = [
    ("engine", "#c2410c", "#fb923c"),
    ("models", "#b91c5c", "#f472b6"),
    ("json", "#92400e", "#d6a75c"),
    ("floor", "#6b7280", "#9ca3af"),
    ("classes", "#6b7280", "#9ca3af"),
    ("sqlite", "#1d4ed8", "#60a5fa"),
    ("grdb", "#6d28d9", "#a78bfa"),
    ("grdb-by-hand", "#7e22ce", "#c4a1ff"),
    ("lmdb", "#15803d", "#4ade80"),
    ("leveldb", "#0e7490", "#22d3ee"),
    ("rocksdb", "#4d7c0f", "#a3e635"),
  ]

  /// The class of a contender's marks; one we do not know looks like the floor.
  static func name(of contender: String) -> String {
    colours.contains { $0.contender == contender } ? contender : "floor"
  }

  /// Whether a contender is one of ours.
  static func isOurs(_ contender: String) -> Bool {
    ["engine", "models", "json"].contains(contender)
  }

  static let sheet: String = {
    let base = """

      text{font:12px system-ui,sans-serif;font-variant-numeric:tabular-nums}
      .title{font-size:16px;font-weight:600}.panel{font-size:13px;font-weight:600}.ours{font-weight:600}
      .small{font-size:11px}.grid,.whisker,.axis{stroke-width:1;fill:none}.curve{fill:none;stroke-width:2}

      """
    return base
      + mode("#ffffff", ink: "#1f2328", soft: "#59636e", grid: "#e3e7eb", \.light)
      + "@media (prefers-color-scheme:dark){\n"
      + mode("#0d1117", ink: "#e6edf3", soft: "#9aa4af", grid: "#262c34", \.dark)
      + "}\n"
  }()

  private static func mode(
    _ paper: String,
    ink: String,
    soft: String,
    grid: String,
    _ colour: KeyPath<(contender: String, light: String, dark: String), String>
  ) -> String {
    let shared = """
      .paper{fill:\(paper)}.ink,.title,.panel,.ours{fill:\(ink)}.soft,.small{fill:\(soft)}\
      .grid{stroke:\(grid)}.axis{stroke:\(soft)}.whisker{stroke:\(ink);stroke-opacity:.6}

      """
    return shared
      + colours.map { entry in
        let value = entry[keyPath: colour]
        return "rect.\(entry.contender),circle.\(entry.contender){fill:\(value)}"
          + "path.\(entry.contender){stroke:\(value)}text.\(entry.contender){fill:\(value)}\n"
      }.joined()
  }
}
