import Foundation
import LogEngineTestSupport
import Testing

@testable import LogEngine
@testable import LogFormat

/// On files: their locks exclude the engines of one process, too.
@Suite final class `An engine that is refused a store`: Sendable {
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "holders-\(UUID().uuidString)"
  )

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func open(
    _ process: Int,
    _ writers: EngineOptions.Writers,
    ended: Set<Int> = []
  ) throws -> StorageEngine {
    var options = EngineOptions()
    options.durability = .memory
    options.background = .caller
    options.writers = writers
    let fileSystem = NamedProcess(process, ended: ended)
    return try StorageEngine.open(at: folder.path, options: options, fileSystem: fileSystem)
  }

  private func holder(_ body: () throws -> StorageEngine) -> String? {
    let error = #expect(throws: StorageError.self) { try body().close() }
    guard case .locked(folder.path, let holder) = error else {
      return "\(String(describing: error))"
    }
    return holder
  }

  @Test func `names the process that has the store alone`() throws {
    let engine = try open(1, .oneProcess)
    #expect(holder { try open(2, .oneProcess) } == "process 1 on vm")
    #expect(holder { try open(2, .severalProcesses) } == "process 1 on vm")
    try engine.close()
  }

  @Test func `names members that live, and not the last process that had the store alone`() throws {
    try open(1, .oneProcess).close()
    let second = try open(2, .severalProcesses)
    #expect(holder { try open(9, .oneProcess) } == "process 2 on vm")
    let third = try open(3, .severalProcesses)
    #expect(holder { try open(9, .oneProcess) } == "process 2 on vm, process 3 on vm")
    try second.close()
    #expect(holder { try open(9, .oneProcess) } == "process 3 on vm")
    let others = try (4...7).map { try open($0, .severalProcesses) }
    let found = try #require(holder { try open(9, .oneProcess) })
    #expect(found.hasSuffix(" and 2 other processes"))
    #expect(!found.contains("process 1 "))
    for engine in others + [third] { try engine.close() }
  }

  @Test func `does not name a process that has ended`() throws {
    try open(1, .oneProcess).close()
    // A process that has not written its name yet.
    let lock = try #require(try PosixFileSystem().lock(StorePaths(root: folder.path).lock))
    #expect(holder { try open(2, .oneProcess, ended: [1]) } == "a process that is not known")
    withExtendedLifetime(lock) {}
  }

  @Test(arguments: [.oneProcess, .severalProcesses] as [EngineOptions.Writers])
  func `is told if its own process has the store`(writers: EngineOptions.Writers) throws {
    let engine = try open(1, writers)
    let error = #expect(throws: StorageError.self) { try open(1, .oneProcess).close() }
    #expect(error?.explanation.found == "this process, which has it open already")
    #expect(error?.explanation.advice == "use the store that is open, or close it first")
    try engine.close()
  }

  @Test func `knows which processes of this host have ended`() throws {
    let child = Process()
    child.executableURL = URL(filePath: "/bin/sh")
    child.arguments = ["-c", "exit 0"]
    try child.run()
    child.waitUntilExit()
    let own = PosixFileSystem().holderDescription
    let gone = own.replacing("process \(getpid()) ", with: "process \(child.processIdentifier) ")
    #expect(PosixFileSystem().hasEnded(gone))
    #expect(!PosixFileSystem().hasEnded(own))
    #expect(!PosixFileSystem().hasEnded(gone + ".elsewhere"))
    #expect(!PosixFileSystem().hasEnded("a process"))
  }
}

/// The file system as a process of a given number sees it.
private struct NamedProcess: ForwardingFileSystem {
  let base: any FileSystem = PosixFileSystem()
  private let number: Int
  private let ended: Set<Int>

  init(_ number: Int, ended: Set<Int>) {
    self.number = number
    self.ended = ended
  }

  var holderDescription: String { "process \(number) on vm" }

  func hasEnded(_ holderDescription: String) -> Bool {
    ended.contains { holderDescription == "process \($0) on vm" }
  }
}
