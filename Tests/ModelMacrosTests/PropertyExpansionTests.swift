import Testing

@Suite struct `A persisted property` {
  private func expand(_ property: String, head: String = "final class Book") -> Expansion {
    Expansion("\(head) { @_PersistedProperty(3) \(property) }")
  }

  @Test(arguments: [
    "@MainActor final class Book", "@DB final class Book", "final class Book: Dated",
  ])
  func `has a slot of no actor where an actor may isolate the class`(head: String) {
    let slot = "nonisolated(unsafe) private var _$s_title: ModelRuntime._Slot<String>"
    #expect(expand("var title: String", head: head).count(of: slot) == 1)
    #expect(expand("var title: String").count(of: slot) == 0)
  }

  @Test func `becomes accessors over a slot`() {
    let title = expand("var title: String")
    #expect(
      title.contains(
        "@safe @exclusivity(unchecked) private var _$s_title: ModelRuntime._Slot<String>"
      )
    )
    #expect(
      title.contains(
        """
        @storageRestrictions(initializes: _$s_title)
        init(initialValue) { _$s_title = .init(initialValue) }
        @inline(__always) get {
          if ModelRuntime._mayBeTracking {
            @inline(never) func note() { ModelRuntime._noteAccess(self, \\Book.title) }
            note()
          }
          return _$s_title._get(self, 3)
        }
        set {
          let isObserved = _$stateReference.isObserved
          if isObserved { ModelRuntime._willSet(self, \\Book.title) }
          _$s_title._set(newValue, self, 3)
          if isObserved { ModelRuntime._didSet(self, \\Book.title) }
        }
        """
      )
    )
  }

  @Test func `that is not stored has its initial value after a fetch, and in each row`() {
    let cases = [
      ("var draft = \"\"", "\"\""),
      ("var draft = Draft()", "Draft()"),
      ("var draft: String = .empty", ".empty"),
      ("var draft: String?", "nil"),
    ]
    for (property, value) in cases {
      let declaration = "@Attribute(.ephemeral) \(property)"
      let model = Expansion("@Model final class Book { \(declaration) }")
      #expect(model.contains("_$s_draft._stored(as: \(value))._encode(into: &encoder, 0)"))
      let accessors = expand(declaration)
      let begin = "_$s_draft._begin(with: \(value))"
      #expect(accessors.contains("\(begin)\nreturn _$s_draft._get(self, 3)"))
      #expect(accessors.contains("\(begin)\nvar value = _$s_draft._get(self, 3)"))
    }
    let bare = Expansion("@Model final class Book { @Attribute(.ephemeral) var draft: String }")
    #expect(bare.contains("_$s_draft._encode(into: &encoder, 0)"))
  }

  @Test func `is lent out while it is changed in place`() {
    #expect(
      expand("var tags: [String] = []").contains(
        """
        var value = _$s_tags._get(self, 3)
        let loan = _$s_tags._lend(&value, self, 3)
        defer {
          _$s_tags._takeBack(loan)
          _$s_tags._set(value, self, 3)
          if isObserved { ModelRuntime._didSet(self, \\Book.tags) }
        }
        yield &value
        """
      )
    )
  }

  @Test(arguments: [
    ("var n: Int", ": ModelRuntime._Slot<Int>"),
    ("var n: Int?", ": ModelRuntime._Slot<Int?> = .init(nil)"),
    ("var n: Int!", ": ModelRuntime._Slot<Int?> = .init(nil)"),
    ("var n: Int? = 3", ": ModelRuntime._Slot<Int?>"),
    ("let n: Int?", ": ModelRuntime._Slot<Int?>"),
    ("var n: Optional<Int>", ": ModelRuntime._Slot<Optional<Int>>"),
    ("var n = 3", ": ModelRuntime._Slot<Swift.Int>"),
    ("var n = 3.5", ": ModelRuntime._Slot<Swift.Double>"),
    ("var n = true", ": ModelRuntime._Slot<Swift.Bool>"),
    ("var n = \"x\"", ": ModelRuntime._Slot<Swift.String>"),
    ("var n = UUID()", " = ModelRuntime._Slot(of: UUID())"),
    ("var n = [Int]()", " = ModelRuntime._Slot(of: [Int]())"),
    ("var n /* a */ : /* b */ Int /* c */ = /* d */ 5 // e", ": ModelRuntime._Slot<Int>"),
  ])
  func `has a slot of its type`(property: String, slot: String) {
    #expect(
      expand(property).lines.contains("@safe @exclusivity(unchecked) private var _$s_n\(slot)")
    )
  }

  @Test func `in backticks has a slot without them`() {
    let expansion = expand("var `default`: Int")
    #expect(expansion.count(of: "private var _$s_default: ModelRuntime._Slot<Int>") == 1)
    #expect(expansion.count(of: "\\Book.`default`") > 0)
    #expect(expansion.count(of: "_$s_`") == 0)
  }

  @Test func `that is constant has no setter, and says how to become a variable`() {
    let expansion = expand("let id: Int")
    #expect(expansion.count(of: "set {") == 0)
    #expect(expansion.count(of: "_modify") == 0)
    #expect(expansion.messages.first?.contains("cannot be a 'let'") == true)
    #expect(expansion.fixed()?.contains("private(set) var id: Int") == true)
    #expect(expand("private let id: Int").fixed()?.contains(" private var id: Int") == true)
  }

  @Test func `counts from the superclass's properties where the class may have one`() {
    let expansion = expand("var n: Int", head: "class Sub: Base")
    #expect(expansion.contains("return _$s_n._get(self, Sub._$base + 3)"))
  }

  @Test func `of a class with conditional properties asks the class for its number`() {
    let expansion = Expansion("class Book { @_PersistedProperty(place: 3) var n: Int }")
    #expect(expansion.contains("return _$s_n._get(self, Book._$ordinal(3))"))
  }

  /// With a question mark it is the key path of something else, which the schema would not find.
  @Test(arguments: ["", "?", "!"])
  func `has an inverse by the plain key path of that`(mark: String) {
    let model = Expansion(
      "@Model final class Book { @Relationship(inverse: \\Chapter.book\(mark)) var all: [Chapter]? }"
    )
    #expect(
      model.contains(
        """
        _$properties.append(ModelRuntime.Schema.PropertyMetadata(name: "all", keypath: \\Book.all, defaultValue: nil, metadata: ModelRuntime.Schema.Relationship(inverse: \\Chapter.book)))
        """
      )
    )
  }

  @Test func `that is transformable passes through its transformer`() {
    let expansion = Expansion(
      """
      class Book {
        @Attribute(.transformable(by: ColorTransformer.self)) @_TransformablePersistedProperty(0)
        var color: Color
      }
      """
    )
    #expect(expansion.contains("return _$s_color._getTransformable(self, 0)"))
    #expect(expansion.contains("_$s_color._setTransformable(newValue, self, 0)"))
  }
}
