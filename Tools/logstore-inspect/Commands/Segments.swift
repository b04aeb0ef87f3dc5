import ArgumentParser
import LogEngine
import RowFormat
import Terminal

/// Lists the files of a store with what they are still good for.
struct Segments: InspectCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the files of a store: sizes, commits, live, history and dead bytes, age.",
    discussion: """
      live      what the newest rows need
      history   what only earlier commits need that can still be read, as with dump --at
      dead      what nothing can read any more
      free      space that was prepared and not written yet

      Of a pack live, history and dead are what its rows would take in the log; its file is smaller, \
      because a pack stores rows by column, compressed. The rest of a file is headers and checksums.

      EXAMPLES:
        logstore-inspect segments trips.store
        logstore-inspect segments trips.store --format csv

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  var path: String { store.path }

  func run(in console: Console) throws {
    let map = try StoreMap(store, in: console)
    guard output.format == .text else {
      map.listing.printItems(to: console, output.format)
      return try map.finish()
    }
    console.print(
      map.listing.table { _, title, text in
        title == "state" && text.hasPrefix("damaged") ? console.styled(text, .red) : text
      }
    )
    console.line()
    console.clippedLine(map.total)
    try map.finish()
  }
}
