import ArgumentParser
import Dispatch
import SwiftData
import TextScreen

extension DeparturesCommand {
  struct Measure: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Measures how soon the board shows what another process saves."
    )
    @Option(help: "How many saves.") var count = 200
    @Option(help: "How many departures there are before.") var rows = 100
    @Option(help: .hidden) var saver: String?

    @MainActor func run() async throws {
      if let saver {
        try Saver(store: URL(filePath: saver)).run()
        return
      }
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let store = folder.appending(path: "store")
      let container = try Departure.container(at: store)
      for number in 0..<rows {
        container.mainContext.insert(Departure(-number, to: "nowhere", due: .distantPast))
      }
      try container.mainContext.save()
      var times = try await measure(container, store)
      times.sort()
      let milliseconds = [50, 90, 99, 100].map { percent in
        let time = times[min(times.count * percent / 100, times.count - 1)]
        return "p\(percent) \(String(format: "%.2f", Double(time) / 1e6)) ms"
      }
      print(
        "from before the save until the screen is written, \(times.count) saves beside \(rows) rows: "
          + milliseconds.joined(separator: ", ")
      )
    }

    /// The nanoseconds from before each save of another process until it was on the screen.
    @MainActor
    private func measure(_ container: ModelContainer, _ store: URL) async throws -> [UInt64] {
      let output = FileHandle.nullDevice
      let (drawings, continuation) = AsyncStream.makeStream(of: (lines: [String], at: UInt64).self)
      let screen = Screen(DepartureBoard().modelContainer(container)) { lines in
        output.write(Data(TerminalText.drawing(lines).utf8))
        continuation.yield((lines, DispatchTime.now().uptimeNanoseconds))
      }
      defer { screen.close() }
      var drawing = drawings.makeAsyncIterator()

      let process = Process()
      process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      process.arguments = ["measure", "--saver", store.path]
      let (input, answers) = (Pipe(), Pipe())
      (process.standardInput, process.standardOutput) = (input, answers)
      try process.run()
      defer { process.waitUntilExit() }
      defer { try? input.fileHandleForWriting.close() }

      var times: [UInt64] = []
      for number in 1...count {
        try input.fileHandleForWriting.write(contentsOf: Data("\(number)\n".utf8))
        while let shown = await drawing.next() {
          guard shown.lines.contains(where: { $0.contains(Saver.destination(number)) }) else {
            continue
          }
          let begun = try answers.fileHandleForReading.read(upToCount: Saver.answerSize) ?? Data()
          times.append(shown.at - (UInt64(String(decoding: begun, as: UTF8.self)) ?? shown.at))
          break
        }
      }
      return times
    }
  }
}

/// The other process: saves on request, and reports the time when it began.
private struct Saver {
  let store: URL

  static let answerSize = 20

  static func destination(_ number: Int) -> String { "place \(number)." }

  func run() throws {
    let context = ModelContext(try Departure.container(at: store))
    while let line = readLine(), let number = Int(line) {
      context.insert(Departure(number, to: Saver.destination(number), due: .now))
      let now = String(DispatchTime.now().uptimeNanoseconds)
      let answer = String(repeating: "0", count: Saver.answerSize - now.count) + now
      FileHandle.standardOutput.write(Data(answer.utf8))
      try context.save()
    }
  }
}
