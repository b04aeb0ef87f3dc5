import Foundation
import ModelRuntime
import Testing

@testable import PostgresStore

// Names that are one if they are joined with a line.

@Model private final class Box {
  #Index<Box>([\.lid_size])
  @Attribute(.unique) var lid_code: String
  var lid_size: Int
  init(_ code: String) { (lid_code, lid_size) = (code, 1) }
}

@Model private final class Box_lid {
  #Index<Box_lid>([\.size], [\.big_top, \.end], [\.big, \.top_end])
  #Unique<Box_lid>([\.big, \.top])
  @Attribute(.unique) var code: String
  @Attribute(.unique) var big_top: Int
  var size: Int
  var big: Int
  var top: Int
  var end: Int
  var top_end: Int

  init(_ code: String, _ number: Int) {
    self.code = code
    (big_top, size, big, top, end, top_end) = (number, number, number, number, number, number)
  }
}

@Suite struct `Constraints and indexes whose names would be the same` {
  private let namespace: TestNamespace
  private let session: ServerSession

  init() throws {
    namespace = try TestNamespace()
    session = try ServerSession(namespace.server.url)
  }

  private func definitions(_ table: String) throws -> [String] {
    try session.texts(
      "SELECT split_part(indexdef, 'USING ', 2) FROM pg_indexes WHERE schemaname = '\(namespace.name)' "
        + "AND tablename = '\(table)' ORDER BY indexdef"
    )
  }

  @Test(arguments: [false, true])
  func `are made for each, once`(isLater: Bool) throws {
    // One class alone at first, so that its objects have the names.
    if isLater { _ = try namespace.container(Box_lid.self) }
    let context = ModelContext(try namespace.container(Box.self, Box_lid.self))
    let made = (try definitions("Box"), try definitions("Box_lid"))
    #expect(made.0.contains("btree (lid_code)"), "\(made.0)")
    #expect(made.0.contains("btree (lid_size)"), "\(made.0)")
    for columns in ["code", "big_top", "size", "big, top", "big_top, \"end\"", "big, top_end"] {
      #expect(made.1.contains("btree (\(columns))"), "\(made.1)")
    }
    context.insert(Box("a"))
    context.insert(Box_lid("a", 1))
    try context.save()
    _ = try namespace.container(Box.self, Box_lid.self)
    #expect(try definitions("Box") == made.0)
    #expect(try definitions("Box_lid") == made.1)
  }
}
