import ArgumentParser
import SwiftData

@main
struct EdgeLoggerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "EdgeLogger",
    abstract: "Records samples of sensors from standard input, and reports them by the hour.",
    subcommands: [Record.self, Report.self]
  )

  struct Record: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Stores lines as they come: sensor,value or sensor,value,time."
    )
    @Option(help: ArgumentHelp("The store.", valueName: "path")) var store = "samples.store"
    @Option(help: ArgumentHelp("Removes samples that are older, at the start.", valueName: "days"))
    var keep = 30

    func validate() throws {
      if keep < 1 {
        throw ValidationError("--keep takes a number of days from 1 on; found \(keep)")
      }
    }

    func run() throws {
      let log = try SampleLog(path: store, for: .recording)
      let removed = try log.removeSamples(before: .now - Double(keep) * 86_400)
      if removed > 0 { print("removed \(removed) samples older than \(keep) days") }
      var refused = 0
      let lines = SampleLines(from: { readLine() }) { number, problem in
        refused += 1
        try? FileHandle.standardError.write(contentsOf: Data("line \(number): \(problem)\n".utf8))
      }
      let count = try log.record(lines)
      print("recorded \(count) samples")
      if refused > 0 { throw ExitCode(1) }
    }
  }

  struct Report: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints count, least, mean and greatest of each hour."
    )
    @Option(help: ArgumentHelp("The store.", valueName: "path")) var store = "samples.store"
    @Option(help: "How many hours back.") var hours = 24

    func run() throws {
      guard FileManager.default.fileExists(atPath: store) else {
        throw ValidationError(
          "there is no store at \(store): record samples first, or name it with --store"
        )
      }
      let log = try SampleLog(path: store, for: .reading)
      for hour in try log.hours(since: .now - Double(hours) * 3600) {
        let figures = [hour.minimum, hour.average, hour.maximum]
          .map { $0.formatted(.number.precision(.fractionLength(2))) }
        print(
          hour.hour.formatted(.iso8601),
          hour.sensor,
          hour.count,
          figures.joined(separator: " ")
        )
      }
    }
  }
}
