import Testing

@Suite struct `A derived property` {
  private func expand(_ property: String) -> Expansion {
    Expansion("@Model final class Book {\n  \(property)\n  init() {}\n}")
  }

  private func expandSlot(_ property: String) -> Expansion {
    Expansion("final class Book { @_DerivedProperty(3) \(property) }")
  }

  @Test func `can be read, and not be set`() {
    let expansion = expandSlot(#"@Derived(.count(\Book.pages)) var pageCount: Int"#)
    #expect(expansion.messages == [])
    #expect(expansion.contains("return _$s_pageCount._get(self, 3)"))
    #expect(!expansion.lines.contains { $0.hasPrefix("set {") || $0.hasPrefix("_modify {") })
    #expect(!expansion.lines.contains { $0.hasPrefix("init(initialValue)") })
  }

  @Test func `starts without a value, which no initializer has to give`() {
    let expansion = expandSlot(#"@Derived(.modificationDate) var lastModified: Date?"#)
    #expect(
      expansion.contains(
        "@safe @exclusivity(unchecked) private var _$s_lastModified: ModelRuntime._Slot<Date?> = .init()"
      )
    )
  }

  @Test func `takes in what is computed for a store of snapshots`() {
    let expansion = expand(#"@Derived(.count(\Book.pages)) var pageCount: Int"#)
    #expect(
      expansion.contains(
        """
        func _$derive(from values: ModelRuntime._DerivedValues) {
          values.set(&_$s_pageCount, 0)
        }
        """
      )
    )
    #expect(!expand("var title = 0").lines.contains { $0.contains("_$derive") })
  }

  @Test func `tells the schema what it is derived from, beside its other options`() {
    let expansion = expand(
      #"@Attribute(originalName: "n") @Derived(.count(\Book.pages)) var pageCount: Int"#
    )
    let options =
      #"ModelRuntime.Schema.Attribute(originalName: "n").derived(.count(\Book.pages))"#
    #expect(expansion.lines.contains { $0.contains(options) })
  }

  @Test(arguments: [
    (
      "@Derived(.modificationDate) let date: Date",
      "a store computes 'date' anew, so it cannot be a 'let'; as a 'var' it cannot be set either"
    ),
    (
      "@Derived(.modificationDate) var date: Date = .now",
      "@Derived property 'date' cannot have an initial value: the store computes it"
    ),
    (
      "@Transient @Derived(.modificationDate) var date: Date?",
      "'date' cannot be both @Derived and @Transient: a derived value is stored"
    ),
    (
      "@Relationship @Derived(.modificationDate) var date: Date",
      "'date' cannot be both @Derived and @Relationship: what is derived is a value"
    ),
  ])
  func `that cannot be says why`(property: String, message: String) {
    #expect(expand(property).messages == [message])
  }
}
