import ArgumentParser
import Foundation
import LogEngine
import Terminal

/// Writes a page about a store.
struct Report: InspectCommand {
  static let configuration = CommandConfiguration(
    abstract: "Writes a page about a store: files, growth, record sizes, entities, compactions.",
    discussion: """
      The page is one file that needs no network, and reads on a phone and in the dark. Without --html, \
      --format json prints its figures.

      EXAMPLES:
        logstore-inspect report trips.store --html trips.html
        logstore-inspect report trips.store --html - | ssh host 'cat > /var/www/trips.html'
        logstore-inspect report trips.store --format json | jq .record_sizes

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var visible: VisibilityOptions

  @Option(
    help: ArgumentHelp("Where the page goes; - for standard output.", valueName: "file"),
    completion: .file(extensions: ["html"])
  )
  var html: String?

  var path: String { store.path }

  func validate() throws {
    if html != nil { return }
    if output.format == .text || output.format == .csv {
      throw ValidationError("Say where the page goes, with --html FILE, or --format json.")
    }
  }

  func run(in console: Console) throws {
    if let html, html != "-" {
      try OutputPlace(html, on: console.fileSystem).checkIsOutsideOfStores()
    }
    let map = try StoreMap(store, in: console)
    let report = try StoreReport(map, visible.visibility, console)
    if let html {
      var page = ReportPage(report)
      try write(page.render(), to: html, console)
    } else {
      console.line(report.item.text)
    }
    try map.finish()
  }

  private func write(_ page: String, to file: String, _ console: Console) throws {
    if file == "-" { return console.line(page) }
    do {
      try Data(page.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
    } catch {
      throw ToolError(
        "the page cannot be written",
        place: file,
        found: (error as? CocoaError)?.localizedDescription ?? "\(error)",
        advice: "give a path in a folder that can be written"
      )
    }
    console.notice("\(file): \(page.utf8.count.byteCount)")
  }
}
