import Foundation
import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat
@testable import LogTools

@Suite struct `A segment that was being made when its process ended` {
  private static let segment = "store/tmp/segment"

  private func makeStore() throws -> InMemoryFileSystem {
    let disk = InMemoryFileSystem()
    let options = MemoryStore.options()
    let engine = try StorageEngine.open(at: "store", options: options, fileSystem: disk)
    try engine.apply(MemoryStore.tableChanges)
    try engine.close()
    try leaveSegment(on: disk)
    return disk
  }

  private func leaveSegment(on disk: InMemoryFileSystem) throws {
    try disk.open(Self.segment, .create).setSize(1 << 20)
  }

  private func names(on disk: InMemoryFileSystem) throws -> [String] {
    try disk.list("store/tmp") ?? []
  }

  @Test func `is removed by the opening, if there is no background`() throws {
    let disk = try makeStore()
    let options = MemoryStore.options()
    let engine = try StorageEngine.open(at: "store", options: options, fileSystem: disk)
    #expect(try names(on: disk) == [])
    try engine.close()
  }

  @Test(.timeLimit(.minutes(30)), arguments: [false, true])
  func `is removed beside the commits, if there is one`(isSecond: Bool) throws {
    let disk = try makeStore()
    // The process before ended when it had put one aside.
    if isSecond {
      try disk.rename(Self.segment, to: "store/tmp/removed")
      try leaveSegment(on: disk)
    }
    var options = MemoryStore.options()
    options.background = .ownThread
    let engine = try StorageEngine.open(at: "store", options: options, fileSystem: disk)
    while try names(on: disk).contains("removed") { Thread.yield() }
    try engine.close()
    #expect(try names(on: disk) == [])
    #expect(try StorageEngine.verify(at: "store", fileSystem: disk).problems.isEmpty)
  }
}
