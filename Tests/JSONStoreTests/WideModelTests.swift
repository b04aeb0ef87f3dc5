import Foundation
import JSONStore
import SwiftData
import Testing

@Suite struct `Properties that share a mark, in a store of snapshots` {
  private func check(_ type: any WideModel.Type, _ body: (any WideChecking) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = try ModelContainer(
      for: Schema(Wide.all),
      configurations: [JSONStoreConfiguration(name: "wide", url: folder.appending(path: "w.json"))]
    )
    func open<M: WideModel>(_ type: M.Type) throws {
      try body(WideCheck(container, container, type))
    }
    try open(type)
  }

  @Test(arguments: Wide.classes)
  func `are not written back once they are refreshed`(type: any WideModel.Type) throws {
    try check(type) { try $0.refreshed() }
  }

  @Test(arguments: Wide.classes)
  func `are undone one by one`(type: any WideModel.Type) throws {
    try check(type) { try $0.undone() }
  }

  @Test(arguments: Wide.classes)
  func `are given up together by a rollback`(type: any WideModel.Type) throws {
    try check(type) { try $0.rolledBack() }
  }
}
