import Foundation
import LogEngine
import LogTools
import Testing

// Serialized: the mask belongs to the process.
@Suite(.serialized) struct `The permissions of a store` {
  @Test func `let only its user read it, whatever the mask`() throws {
    let before = umask(0o022)
    defer { umask(before) }
    let store = try HostileStore()
    for (name, mode) in try HostileStore.modes(under: store.path) {
      #expect(mode == 0o600 || mode == 0o700, "\(name) has mode \(String(mode, radix: 8))")
    }
  }

  @Test(arguments: [
    StorePermissions.groupReads, .groupWrites, .init(file: 0o644, directory: 0o755),
  ])
  func `can be others, and stay in copies and in what is written later`(
    permissions: StorePermissions
  ) throws {
    let before = umask(0o077)
    defer { umask(before) }
    let store = try HostileStore()
    let path = store.folder + "/group.store"
    var options = EngineOptions()
    options.permissions = permissions
    options.smallestSegment = 16 << 10
    var engine = try StorageEngine.open(at: path, options: options)
    try engine.apply([
      .addTable(name: "notes"), .addColumn(table: 1, name: "x", type: .blob, isNullable: true),
      .setLayout(table: 1, columns: [1]),
    ])
    try engine.close()
    // Reopened by somebody who asks for nothing.
    engine = try StorageEngine.open(at: path)
    var batch = engine.makeBatch()
    _ = try batch.addBlob([1, 2, 3].span.bytes)
    try engine.checkpoint()
    try engine.backup(to: store.folder + "/copy")
    try engine.compact()
    try engine.close()
    _ = try StorageEngine.salvage(at: path, to: store.folder + "/salvaged")
    for path in [path, store.folder + "/copy", store.folder + "/salvaged"] {
      for (name, mode) in try HostileStore.modes(under: path) {
        let expected = [Int(permissions.file), Int(permissions.directory)]
        #expect(expected.contains(mode), "\(path)/\(name) has mode \(String(mode, radix: 8))")
      }
    }
  }
}
