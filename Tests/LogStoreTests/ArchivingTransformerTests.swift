import Foundation
import LogStore
import SwiftData
import Testing

/// A colour of an app, as one that comes from a time before `Codable`.
///
/// An archive names its class, which is found by that name.
final class ArchivedTint: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }
  let red: Int

  init(red: Int) { self.red = red }
  init?(coder: NSCoder) { red = coder.decodeInteger(forKey: "red") }
  func encode(with coder: NSCoder) { coder.encode(red, forKey: "red") }
}

private enum Atelier {
  final class TintTransformer: NSSecureUnarchiveFromDataTransformer {
    override class var allowedTopLevelClasses: [AnyClass] { [ArchivedTint.self] }
  }

  @Model final class Canvas {
    @Attribute(.transformable(by: "NSSecureUnarchiveFromData")) var words: [String]?
    @Attribute(.transformable(by: "NSSecureUnarchiveFromData")) var counts: [String: Int]?
    @Attribute(.transformable(by: "NSSecureUnarchiveFromDataTransformer")) var scan: Data?
    @Attribute(.transformable(by: TintTransformer.self)) var tint: ArchivedTint?
    init() {}
  }
}

/// These transformers make objects of bytes, where those that an app writes make bytes of objects.
@Suite struct `A value that Foundation's transformer of archives stores` {
  @Test func `is the same when it is read`() throws {
    let container = try ModelContainer(
      for: Atelier.Canvas.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let canvas = Atelier.Canvas()
    canvas.words = ["sky", "sea"]
    canvas.counts = ["gulls": 3]
    canvas.scan = Data([1, 2])
    canvas.tint = ArchivedTint(red: 7)
    context.insert(canvas)
    context.insert(Atelier.Canvas())
    try context.save()
    let found = try ModelContext(container).fetch(FetchDescriptor<Atelier.Canvas>())
    #expect(found.map(\.words) == [["sky", "sea"], nil])
    #expect(found.map(\.counts) == [["gulls": 3], nil])
    #expect(found.map(\.scan) == [Data([1, 2]), nil])
    #expect(found.map(\.tint?.red) == [7, nil])
  }
}
