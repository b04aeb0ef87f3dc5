public import Foundation

/// Puts the figures of a run into the documentation: tables into marked places, plots beside the article.
public struct Publication {
  private let results: Results

  public init(_ results: Results) { self.results = results }

  /// Replaces what an earlier run left.
  ///
  /// - Parameter root: The checkout.
  /// - Throws: What the file system throws, and ``MissingPlace``.
  public func write(to root: URL) throws {
    let catalog = root.appending(path: "Sources/LogEngine/LogEngine.docc")
    let resources = catalog.appending(path: "Resources")
    try FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
    let plots = Plots(results: results).all
    for plot in plots {
      let file = resources.appending(path: "performance-\(plot.name).svg")
      try Data(plot.svg.utf8).write(to: file)
    }
    let pictures = plots.filter { $0.name != Plots.overviewName }
      .map { "![\($0.title)](performance-\($0.name).svg)" }
    let highlights = HighlightTable(results: results).markdown
    let short = HighlightTable(results: results, highlights: Highlight.short).markdown
    let distances = DistanceTable(results: results)
    try replace(
      in: catalog.appending(path: "Performance.md"),
      [
        ("circumstances", results.circumstances), ("speed", highlights),
        ("losses", distances.losses), ("floors", distances.floors),
        ("scale", FigureTable(results.measurements(of: "scale")).markdown.joined(separator: "\n")),
        ("plots", pictures.joined(separator: "\n\n")),
      ]
    )
    try replace(
      in: root.appending(path: "README.md"),
      [
        ("circumstances", results.circumstances), ("speed", short),
      ]
    )
  }

  private func replace(in file: URL, _ parts: [(name: String, content: String)]) throws {
    var text = MarkedText(try String(contentsOf: file, encoding: .utf8))
    for part in parts where !text.replace(part.name, with: part.content) {
      throw MissingPlace(file: file.lastPathComponent, name: part.name)
    }
    try Data(text.text.utf8).write(to: file, options: .atomic)
  }
}

/// A page has no place for figures that belong there.
public struct MissingPlace: Error, CustomStringConvertible {
  let file: String
  let name: String

  public var description: String {
    "\(file) has no lines <!-- figures: \(name) --> and <!-- end: \(name) -->"
  }
}
