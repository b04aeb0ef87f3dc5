#if !os(Windows)
import Foundation
import SwiftData
import Testing
import TextScreen
import TextScreenData

@testable import Departures

@MainActor @Suite(.timeLimit(.minutes(30))) struct `The example Departures` {
  /// The program that was built beside these tests.
  private static let program = URL(filePath: CommandLine.arguments[0])
    .deletingLastPathComponent().appending(path: "Departures").path

  private let folder: TemporaryFolder
  private var store: URL { folder.url.appending(path: "departures.store") }

  init() throws { folder = try TemporaryFolder() }

  /// Has another process do something with the store, and waits until it has ended.
  private func runElsewhere(_ arguments: String...) async throws {
    let process = Process()
    process.executableURL = URL(filePath: Self.program)
    process.arguments = arguments + ["--store", store.path]
    let status = try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    #expect(status == 0)
  }

  @Test func `shows what other processes save, as lines of a board`() async throws {
    var board: [String] = []
    let container = try Departure.container(at: store)
    let screen = Screen(DepartureBoard().modelContainer(container)) { lines in
      // Without the time, which is the first word.
      board = lines.map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
    }
    defer { screen.close() }
    func wait(for lines: String...) async {
      while Array(board.dropFirst()) != lines { await Task.yield() }
    }
    try await runElsewhere("announce", "7", "Oslo", "--in", "30")
    await wait(for: "Oslo")
    try await runElsewhere("announce", "8", "Rome", "--in", "20")
    await wait(for: "Rome", "Oslo")
    try await runElsewhere("delay", "7", "15")
    await wait(for: "Rome", "Oslo 15 min late")
    try await runElsewhere("cancel", "8")
    await wait(for: "Oslo 15 min late")
  }

  @Test func `draws lines over what the terminal showed before`() {
    #expect(TerminalText.drawing(["a", "b"]) == "\u{1B}[Ha\u{1B}[K\r\nb\u{1B}[K\r\n\u{1B}[J")
  }
}
#endif
