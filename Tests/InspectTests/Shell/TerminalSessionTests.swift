import Foundation
import LogEngine
import LogEngineTestSupport
import RowFormat
import Testing

@testable import logstore_inspect

#if canImport(Glibc)
/// The whole program at a terminal, with a store in files.
@Suite final class `The shell at a terminal` {
  private let folder: URL
  private let store: String

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "shell-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    store = folder.appending(path: "towns.store").path
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(
      at: store,
      options: options,
      fileSystem: PosixFileSystem()
    )
    try engine.apply([
      .addTable(name: "Town"),
      .addColumn(table: 1, name: "name", type: .text, isNullable: false),
      .setLayout(table: 1, columns: [1]),
    ])
    var batch = engine.makeBatch()
    for key in 1...3 as ClosedRange<UInt64> {
      let row = TownStore.row(RowLayout([.text])) { $0.append(0, text: "Town \(key)") }
      row.map { batch.insert(TownStore.town(key), layout: .init(1), row: $0) }
    }
    try engine.commit(&batch)
    try engine.close()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The program that was built beside these tests.
  private static let program = URL(filePath: CommandLine.arguments[0])
    .deletingLastPathComponent().appending(path: "logstore-inspect").path

  private var historyFile: String { folder.appending(path: "logstore/history").path }

  private func shell(_ arguments: String..., columns: UInt16 = 80) throws -> PseudoTerminal {
    try PseudoTerminal(
      Self.program,
      ["shell", store] + arguments,
      environment: ["TERM": "xterm", "XDG_STATE_HOME": folder.path, "NO_COLOR": "1"],
      columns: columns
    )
  }

  @Test func `greets, answers, completes and ends with the mode it found`() throws {
    let terminal = try shell()
    let greeting = try terminal.expect("logstore> ")
    #expect(greeting.contains("1 entity, 3 rows, last commit"))
    terminal.type("cou\tTo\twh\tna\t== \"Town 2\"")
    try terminal.expect("count Town where name == \"Town 2\"")
    #expect(try terminal.modes != terminal.originalModes)
    terminal.type("\r")
    let answer = try terminal.expect("logstore> ")
    #expect(answer.contains("entity  rows\r\nTown       1\r\n"))
    terminal.type("\u{4}")
    #expect(try terminal.waitForEnd() == 0)
    #expect(try terminal.modes == terminal.originalModes)
  }

  @Test func `gives up a line at Ctrl-C, and remembers lines for the next time`() throws {
    let terminal = try shell()
    try terminal.expect("logstore> ")
    terminal.type("nonsense\u{3}")
    try terminal.expect("^C")
    try terminal.expect("logstore> ")
    terminal.type("count Town\r")
    try terminal.expect("Town       3")
    try terminal.expect("logstore> ")
    terminal.type(".quit\r")
    #expect(try terminal.waitForEnd() == 0)
    #expect(try String(contentsOfFile: historyFile, encoding: .utf8) == "count Town\n.quit\n")
    let attributes = try FileManager.default.attributesOfItem(atPath: historyFile)
    #expect(attributes[.posixPermissions] as? Int == 0o600)

    let next = try shell()
    try next.expect("logstore> ")
    next.type("\u{1B}[A\u{1B}[A\r")
    try next.expect("count Town")
    try next.expect("Town       3")
    // While an answer is under way, the terminal does with such keys what it does.
    try next.expect("logstore> ")
    next.type("\u{12}qui")
    try next.expect("(search \"qui\") .quit")
    next.type("\r")
    #expect(try next.waitForEnd() == 0)
  }

  @Test func `draws the line anew when the window is resized`() throws {
    let terminal = try shell(columns: 30)
    try terminal.expect("logstore> ")
    terminal.type("Town where name == \"a long name\"")
    try terminal.expect("a long name\"")
    terminal.resize(columns: 60)
    // Up to the row where it began, if there was one, and all of it again.
    try terminal.expect("\r\u{1B}[Jlogstore> Town where name == \"a long name\"")
    terminal.type("\u{3}\u{4}")
    #expect(try terminal.waitForEnd() == 0)
  }

  @Test(arguments: [SIGTERM, SIGHUP, SIGSEGV, SIGABRT])
  func `gives the terminal back before a signal ends it`(number: CInt) throws {
    let terminal = try shell()
    try terminal.expect("logstore> ")
    terminal.type("x")
    try terminal.expect("x")
    #expect(try terminal.modes != terminal.originalModes)
    terminal.signal(number)
    #expect(try terminal.waitForEnd() == -number)
    #expect(try terminal.modes == terminal.originalModes)
  }

  @Test func `gives the terminal back while it is stopped, and goes on with the line`() throws {
    let terminal = try shell()
    try terminal.expect("logstore> ")
    terminal.type("coun\u{1A}")
    #expect(terminal.waitForStop())
    #expect(try terminal.modes == terminal.originalModes)
    terminal.signal(SIGCONT)
    try terminal.expect("\r\u{1B}[Jlogstore> coun")
    terminal.type("t Town\r")
    try terminal.expect("Town       3")
    terminal.type(".quit\r")
    #expect(try terminal.waitForEnd() == 0)
  }

  @Test func `answers without prompt or codes where there is no terminal`() throws {
    let process = Process()
    process.executableURL = URL(filePath: Self.program)
    process.arguments = ["shell", store]
    let (input, output, errors) = (Pipe(), Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    process.standardError = errors
    try process.run()
    try input.fileHandleForWriting.write(
      contentsOf: Data("count Town\nnonsense\n.mode csv\nTown".utf8)
    )
    try input.fileHandleForWriting.close()
    let text = String(
      decoding: try output.fileHandleForReading.readToEnd() ?? Data(),
      as: UTF8.self
    )
    let notices = String(
      decoding: try errors.fileHandleForReading.readToEnd() ?? Data(),
      as: UTF8.self
    )
    process.waitUntilExit()
    #expect(text == "entity  rows\nTown       3\nkey,name\n1,Town 1\n2,Town 2\n3,Town 3\n")
    #expect(notices.hasPrefix("error: line 2: the store has no such entity"))
    #expect(process.terminationStatus == 1)
    #expect(!FileManager.default.fileExists(atPath: historyFile))
  }
}
#endif
