import Foundation
import LogEngine
import RowFormat
import Testing

@Suite struct `A torn end of the log` {
  /// A store killed after two commits, and what it held after the first.
  private func killedStore() throws -> (
    store: SmallStore, first: [UInt64: String], second: [UInt64: String], end: Int
  ) {
    let store = try SmallStore()
    try store.insert([(1, "kept"), (2, "kept too")])
    let first = try store.rows()
    let written = try Data(contentsOf: URL(fileURLWithPath: try #require(store.segments.last)))
    try store.insert([(3, "perhaps")])
    let second = try store.rows()
    store.abandon()
    let end = (written.lastIndex { $0 != 0 } ?? 0) + 1
    return (store, first, second, end)
  }

  @Test func `loses the commit that was torn, and nothing before it`() throws {
    let (store, first, second, end) = try killedStore()
    let path = try #require(store.segments.last)
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    let written = (whole.lastIndex { $0 != 0 } ?? 0) + 1
    // A cut shows as zeros where bytes had not reached the disk.
    for cut in stride(from: (end + 7) & ~7, to: written, by: 3) {
      let copy = try SmallStore()
      copy.abandon()
      try FileManager.default.removeItem(atPath: copy.path)
      try FileManager.default.copyItem(atPath: store.path, toPath: copy.path)
      var torn = whole
      torn.replaceSubrange(cut..<written, with: Data(count: written - cut))
      try torn.write(to: URL(fileURLWithPath: try #require(copy.segments.last)))
      try copy.open()
      let rows = try copy.rows()
      #expect(rows == first || rows == second, "cut at \(cut)")
      try copy.insert([(9, "after")])
      try copy.reopen()
      #expect(try copy.rows().count == rows.count + 1, "cut at \(cut)")
    }
  }
}

@Suite struct `A damaged byte` {
  @Test func `anywhere in the log is an error that names the file, or does no harm`() throws {
    let store = try SmallStore()
    let keys = try store.insert((1...20).map { (Int64($0), "row \($0)") })
    for key in keys { try store.update(key, number: 7, text: "row \(key)") }
    try store.reopen()
    try store.insert([(100, "last")])
    let expected = try store.rows()
    try store.close()
    let path = try #require(store.segments.first)
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    var noticed = 0
    for index in stride(from: 0, to: whole.count, by: 5) {
      var damaged = whole
      damaged[index] ^= 0x10
      try damaged.write(to: URL(fileURLWithPath: path))
      var options = EngineOptions()
      options.mode = .readOnly
      do {
        let engine = try StorageEngine.open(at: store.path, options: options)
        var rows: [UInt64: String] = [:]
        try engine.scan(1) { key, _, row in
          rows[key] = "\(store.layout.integer(0, in: row)) \(store.layout.text(1, in: row))"
          return .proceed
        }
        // Beside a writer a log may end early, but what it says is never wrong.
        #expect(rows.allSatisfy { expected[$0.key] != nil }, "byte \(index)")
      } catch is StorageError {
        noticed += 1
      }
    }
    try whole.write(to: URL(fileURLWithPath: path))
    #expect(noticed > 0)
    try store.open()
    #expect(try store.rows() == expected)
  }
}
