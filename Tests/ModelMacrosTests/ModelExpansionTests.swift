import Testing

@Suite struct `The members of a model` {
  let book = Expansion(
    """
    @Model final class Book {
      @Attribute(.unique, originalName: "name") var title: String
      var pages = 0
      var kind: Kind = .novel
      @Relationship(deleteRule: .cascade, inverse: \\Chapter.book) var chapters: [Chapter] = []
      @Transient var isOpen = false
      static var count = 0
      var isLong: Bool { pages > 500 }
      init(title: String) { self.title = title }
    }
    """
  )

  @Test func `hold its bookkeeping, and the view of its values`() {
    #expect(
      book.contains("@safe @exclusivity(unchecked) private var _$core = ModelRuntime._ModelCore()")
    )
    #expect(book.contains("var _$state: ModelRuntime._ModelState { _$core.state(of: self) }"))
    #expect(
      book.contains(
        "var _$stateReference: ModelRuntime._StateReference { _$core.stateReference(of: self) }"
      )
    )
    #expect(book.contains("var _$fetchedRow: ModelRuntime._FetchedRow { _$core.fetchedRow }"))
    #expect(
      book.contains(
        """
        var persistentBackingData: any ModelRuntime.BackingData<Book> {
          get { ModelRuntime._LiveBackingData(self) }
          set { _$state.adopt(newValue) }
        }
        """
      )
    )
  }

  @Test func `number the stored properties, and leave out the others`() {
    #expect(book.contains("@ModelRuntime._PersistedProperty(1)\nvar pages = 0"))
    #expect(book.contains("@ModelRuntime._PersistedProperty(2)\nvar kind: Kind = .novel"))
    #expect(book.count(of: "@ModelRuntime._PersistedProperty") == 4)
  }

  @Test func `describe properties with name, key path, default and options`() {
    #expect(
      book.contains(
        """
        static var schemaMetadata: [ModelRuntime.Schema.PropertyMetadata] {
        var _$properties: [ModelRuntime.Schema.PropertyMetadata] = []
        _$properties.reserveCapacity(4)
        _$properties.append(ModelRuntime.Schema.PropertyMetadata(name: "title", keypath: \\Book.title, \
        defaultValue: nil, metadata: ModelRuntime.Schema.Attribute(.unique, originalName: "name")))
        _$properties.append(ModelRuntime.Schema.PropertyMetadata(name: "pages", keypath: \\Book.pages, \
        defaultValue: 0, metadata: nil))
        _$properties.append(ModelRuntime.Schema.PropertyMetadata(name: "kind", keypath: \\Book.kind, \
        defaultValue: (.novel) as Kind, metadata: nil))
        _$properties.append(ModelRuntime.Schema.PropertyMetadata(name: "chapters", keypath: \\Book.chapters, \
        defaultValue: ([]) as [Chapter], metadata: ModelRuntime.Schema.Relationship(deleteRule: .cascade, \
        inverse: \\Chapter.book)))
        return _$properties
        }
        """
      )
    )
  }

  @Test func `create an empty object for a fetched row`() {
    #expect(
      book.contains(
        """
        init(backingData: any ModelRuntime.BackingData<Book>) {
        _$s_title = .init()
        _$s_pages = .init()
        _$s_kind = .init()
        _$s_chapters = .init()
        _$state.adopt(backingData)
        }
        """
      )
    )
  }

  @Test func `encode the properties in the order of their columns`() {
    #expect(
      book.contains(
        """
        func _$encode(into encoder: inout ModelRuntime._RowEncoder) {
        _$s_title._encode(into: &encoder, 0)
        _$s_pages._encode(into: &encoder, 1)
        _$s_kind._encode(into: &encoder, 2)
        _$s_chapters._encode(into: &encoder, 3)
        }
        """
      )
    )
  }

  @Test func `come with the conformances, and with none to Sendable`() {
    #expect(book.contains("extension Book: nonisolated ModelRuntime.PersistentModel {}"))
    #expect(book.contains("extension Book: nonisolated ModelRuntime._Observable {}"))
    #expect(book.count(of: "@available(*, unavailable, message: \"PersistentModels are not") == 1)
    #expect(book.contains("extension Book: Swift.Sendable {}"))
  }

  @Test func `raise no objection`() {
    #expect(book.messages.isEmpty)
  }

  @Test func `carry indices and constraints in the metadata, indices first`() {
    let expansion = Expansion(
      """
      @Model final class Trip {
        #Unique<Trip>([\\.name, \\.start])
        #Index<Trip>([\\.name], [\\.start])
        var name: String = ""
        var start: Int = 0
        init() {}
      }
      """
    )
    #expect(
      expansion.contains(
        """
        _$properties.append(ModelRuntime.Schema.PropertyMetadata(name: "SwiftData.Schema.Index", \
        keypath: \\ModelRuntime.Schema.encodingVersion, defaultValue: nil, \
        metadata: ModelRuntime.Schema.Index<Trip>([\\.name], [\\.start])))
        _$properties.append(ModelRuntime.Schema.PropertyMetadata(name: "SwiftData.Schema.Unique", \
        keypath: \\ModelRuntime.Schema.encodingVersion, defaultValue: nil, \
        metadata: ModelRuntime.Schema.Unique<Trip>([\\.name, \\.start])))
        return _$properties
        """
      )
    )
  }
}
