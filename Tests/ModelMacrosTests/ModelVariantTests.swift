import Testing

@Suite struct `The expansion of a model` {
  @Test(arguments: [
    (
      "public final class", "public var _$state", "public func _$adopt()",
      "public static var schema"
    ),
    (
      "package class", "package final var _$state", "package func _$adopt()",
      "package class var schema"
    ),
    ("open class", "public final var _$state", "open func _$adopt()", "open class var schema"),
    ("class", "final var _$state", "func _$adopt()", "class var schema"),
    ("private class", "final var _$state", "func _$adopt()", "class var schema"),
    ("internal final class", "var _$state", "func _$adopt()", "static var schema"),
  ])
  func `is as visible as the class, and as final`(
    head: String,
    state: String,
    method: String,
    metadata: String
  ) {
    let expansion = Expansion("@Model \(head) Book { var n: Int = 0; init() {} }")
    #expect(expansion.lines.contains { $0.hasPrefix(state) })
    #expect(expansion.lines.contains { $0.hasPrefix(method) })
    #expect(expansion.lines.contains { $0.hasPrefix(metadata) })
  }

  @Test func `is as visible as the extension around the class`() {
    let expansion = Expansion(
      "public extension Schema { @Model final class Book { var n: Int = 0; init() {} } }"
    )
    #expect(expansion.lines.contains { $0.hasPrefix("public var _$state") })
  }

  @Test func `requires its initializer of subclasses`() {
    let expansion = Expansion("@Model class Book { var n: Int = 0; init() {} }")
    #expect(
      expansion.lines.contains { $0.hasPrefix("required init(backingData: any ModelRuntime.Bac") }
    )
    #expect(expansion.contains("class var _$propertyCount: Swift.Int { 0 + 1 }"))
  }

  @Test func `does not mistake a protocol or a plain class for a model`() {
    let expansion = Expansion("@Model class Book: Named { var n: Int = 0; init() {} }")
    #expect(expansion.contains("nonisolated private static var _$base: Swift.Int { 0 }"))
    #expect(expansion.lines.contains { $0.hasPrefix("nonisolated final var _$state") })
  }

  @Test func `adds to its superclass's where that is a model`() {
    let expansion = Expansion(
      "@Model class Sub: Base, Named { var n: Int = 0; init() {} }",
      superclass: .model
    )
    #expect(!expansion.lines.contains { $0.contains("var _$state") })
    #expect(
      expansion.contains(
        "nonisolated private static var _$base: Swift.Int { Base._$propertyCount }"
      )
    )
    #expect(
      expansion.contains(
        "nonisolated override class var _$propertyCount: Swift.Int { Base._$propertyCount + 1 }"
      )
    )
    #expect(
      expansion.contains(
        """
        nonisolated required init(backingData: any ModelRuntime.BackingData<Root>) {
        _$s_n = .init()
        super.init(backingData: backingData)
        }
        """
      )
    )
    #expect(
      expansion.contains(
        """
        nonisolated override func _$encode(into encoder: inout ModelRuntime._RowEncoder) {
        super._$encode(into: &encoder)
        _$s_n._encode(into: &encoder, Sub._$base + 0)
        }
        """
      )
    )
    #expect(
      expansion.lines.contains { $0.hasPrefix("nonisolated override class var schemaMetadata") }
    )
    #expect(!expansion.lines.contains { $0.hasPrefix("extension") })
  }

  @Test(arguments: [
    "BasePersistentModel", "App.BasePersistentModel", "Base, SyncedPersistentModel",
  ])
  func `does not mistake another name's end for the conformance`(inherited: String) {
    let expansion = Expansion(
      "@Model class Sub: \(inherited) { var n: Int = 0; init() {} }",
      superclass: .model
    )
    #expect(!expansion.lines.contains { $0.contains("var _$state") })
    #expect(
      expansion.lines.contains { $0.hasPrefix("nonisolated override class var schemaMetadata") }
    )
  }

  @Test(arguments: [
    "PersistentModel", "SwiftData.PersistentModel", "Named, ModelRuntime.PersistentModel",
    "nonisolated PersistentModel", "Named & PersistentModel", "PersistentModel & Named",
  ])
  func `is whole where the class states the conformance itself`(inherited: String) {
    let expansion = Expansion(
      "@Model class Book: \(inherited) { var n: Int = 0; init() {} }",
      superclass: .model
    )
    #expect(expansion.lines.contains { $0.contains("var _$state") })
    #expect(expansion.lines.contains { $0.hasPrefix("nonisolated class var schemaMetadata") })
  }

  @Test(arguments: [
    "@MainActor @Model class Book", "@DB @Model class Book", "@Model class Book: Dated",
    "@Model class Book: @MainActor Dated",
  ])
  func `has bookkeeping of no actor where an actor may isolate the class`(head: String) {
    let expansion = Expansion("\(head) { var n: Int = 0; init() {} }")
    let storage = "@safe @exclusivity(unchecked) nonisolated(unsafe) private "
    #expect(expansion.contains("\(storage)final var _$core = ModelRuntime._ModelCore()"))
    #expect(expansion.lines.contains { $0.hasPrefix("nonisolated class var schemaMetadata") })
    #expect(expansion.lines.contains { $0.hasPrefix("private static func _$describedProperties") })
    let isNamed = head.hasPrefix("@MainActor")
    #expect(expansion.count(of: "typealias _$Isolation") == (isNamed ? 1 : 0))
  }

  @Test func `has no modifiers where none can`() {
    let expansion = Expansion(
      "@available(*, deprecated) @Model class Book { var n: Int = 0; init() {} }"
    )
    #expect(expansion.count(of: "nonisolated(unsafe)") == 0)
    #expect(expansion.lines.contains { $0.hasPrefix("class var schemaMetadata") })
  }

  @Test func `keeps the initializers that a subclass without storage inherits`() {
    let expansion = Expansion(
      "@Model final class Sub: Base { var twice: Int { n * 2 } }",
      superclass: .model
    )
    #expect(expansion.count(of: "init(backingData:") == 0)
    #expect(expansion.messages.isEmpty)
  }

  @Test func `gives a class's own operator to Equatable by another name`() {
    let operatorSource = "static func == (a: Book, b: Book) -> Bool { a.n == b.n }"
    let bare = Expansion("@Model class Book { var n = 0; init() {}; \(operatorSource) }")
    #expect(bare.contains("@_implements(Swift.Equatable, ==(_:_:))"))
    let stated = Expansion(
      "@Model class Book: Hashable { var n = 0; init() {}; \(operatorSource) }"
    )
    #expect(stated.count(of: "_implements") == 0)
  }
}

@Suite struct `Properties inside #if` {
  let expansion = Expansion(
    """
    @Model final class Book {
      var a: Int = 0
      #if DEBUG
      var b: Int = 0
      #elseif os(Linux)
      var c: Int = 0
      var d: Int = 0
      #endif
      var e: Int = 0
      init() {}
    }
    """
  )

  @Test func `keep their conditions wherever they are named`() {
    #expect(
      expansion.contains(
        """
        func _$encode(into encoder: inout ModelRuntime._RowEncoder) {
        _$s_a._encode(into: &encoder, Self._$ordinal(0))
        #if DEBUG
        _$s_b._encode(into: &encoder, Self._$ordinal(1))
        #elseif os(Linux)
        _$s_c._encode(into: &encoder, Self._$ordinal(2))
        _$s_d._encode(into: &encoder, Self._$ordinal(3))
        #endif
        _$s_e._encode(into: &encoder, Self._$ordinal(4))
        }
        """
      )
    )
  }

  @Test func `are left out of the numbers when they are left out of the class`() {
    #expect(
      expansion.contains(
        """
        private static func _$ordinal(_ place: Swift.Int) -> Swift.Int {
          var ordinal = 0 + place
          #if DEBUG
          if place > 2 { ordinal -= 1 }
          if place > 3 { ordinal -= 1 }
          #elseif os(Linux)
          if place > 1 { ordinal -= 1 }
          #else
          if place > 1 { ordinal -= 1 }
          if place > 2 { ordinal -= 1 }
          if place > 3 { ordinal -= 1 }
          #endif
          return ordinal
        }
        """
      )
    )
  }
}

@Suite struct `Constraints and indexes inside #if` {
  @Test func `keep their conditions, nested ones too`() {
    let expansion = Expansion(
      """
      @Model final class Book {
        #Index<Book>([\\.a])
        #if DEBUG
        #Unique<Book>([\\.a])
        var b: Int = 0
        #else
        #if os(Linux)
        #Index<Book>([\\.c])
        #endif
        #endif
        var a: Int = 0
        init() {}
      }
      """
    )
    let kinds = [
      "#if", "#else", "#endif", "Schema.Index<Book>", "Schema.Unique<Book>", "\"b\"", "\"a\"",
    ]
    let metadata = expansion.lines.drop { !$0.contains("schemaMetadata") }
      .prefix { !$0.contains("return _$properties") }
    let found = metadata.compactMap { line in kinds.first { line.contains($0) } }
    #expect(
      found == [
        "#if", "\"b\"", "#else", "#endif", "\"a\"",
        "Schema.Index<Book>", "#if", "#else", "#if", "Schema.Index<Book>", "#endif", "#endif",
        "#if", "Schema.Unique<Book>", "#else", "#endif",
      ]
    )
  }
}
