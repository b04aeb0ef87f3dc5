import ArgumentParser
import LogEngine
import LogTools
import RowFormat
import Terminal

/// Lists every frame and record of segments.
struct Frames: InspectCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists every frame and record of the log, with offsets and checksums.",
    discussion: """
      A frame is a commit, a part of one, or a mark; its records follow, indented. Works on files in \
      any state: behind damage the next frame is looked for, and of a damaged frame the records that are \
      whole are shown. Of a delta the columns it writes are shown with their new values.

      EXAMPLES:
        logstore-inspect frames trips.store
        logstore-inspect frames trips.store 3 --hex
        logstore-inspect frames trips.store 3 --offset 8192-12288
        logstore-inspect frames trips.store --no-records --format csv

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  @Argument(help: "The numbers of the segments; all, if none is given.")
  var segments: [UInt32] = []

  @Option(
    help: ArgumentHelp(
      "Only frames and records in this range of bytes: 4096-8192.",
      valueName: "range"
    )
  )
  var offset: NumberRange?

  @Flag(inversion: .prefixedNo, help: "Whether records are listed under their frames.")
  var records = true

  @Flag(help: "Also the bytes, in hexadecimal.")
  var hex = false

  var path: String { store.path }

  func run(in console: Console) throws {
    let inspection = StoreInspection(
      at: StorePath.normalized(path),
      fileSystem: console.fileSystem,
      reads: store.reads
    )
    let chosen = try choose(from: try inspection.segments())
    // Names and what a torn end means come from the store as a whole; the frames do not need it.
    let opened = try? InspectedStore(store, .all, in: console)
    var printer = FramePrinter(inspection, opened, self, console)
    for segment in chosen {
      do {
        try printer.print(segment)
      } catch let error as StorageError {
        // Its rows may have been packed since the command looked what there is.
        let rest = try inspection.segments()
        if rest.contains(where: { $0.segment == segment.segment }) { throw error }
        if output.format == .text { console.line("  the writer has packed this segment meanwhile") }
      }
    }
    printer.end()
    try printer.finish(path: path)
  }

  private func choose(from all: [SegmentDescription]) throws(ToolError) -> [SegmentDescription] {
    if all.isEmpty {
      throw ToolError(
        "there is no log",
        place: path,
        expected: "the folder of a log store",
        advice: "check the path"
      )
    }
    if segments.isEmpty { return all }
    var chosen: [SegmentDescription] = []
    for number in segments {
      guard let segment = all.first(where: { $0.segment.rawValue == number }) else {
        throw ToolError(
          "the store has no such segment",
          place: path,
          expected: all.map { "\($0.segment.rawValue)" }.joined(separator: ", "),
          found: "\(number)"
        )
      }
      chosen.append(segment)
    }
    return chosen
  }
}
