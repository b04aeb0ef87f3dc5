import SwiftDiagnostics
import Testing

@Suite struct `The tree that a predicate is written as` {
  /// The expansion of a closure, with short names for the two places that nodes come from.
  private func tree(_ closure: String) -> String {
    Expansion("#Predicate<Book> \(closure)").lines.joined(separator: "\n")
      .replacing("Foundation.PredicateExpressions.", with: "P.")
      .replacing("ModelRuntime._PredicateBuilder.", with: "B.")
  }

  @Test(arguments: [
    (
      "{ $0.pages > 3 }",
      #"P.build_Comparison(lhs: B.keyPath(_$model1, \.pages), rhs: P.Value(3), op: .greaterThan)"#
    ),
    ("{ $0.kind == .novel }", #"B.equal(B.keyPath(_$model1, \.kind), constant: .novel)"#),
    ("{ me != $0.owner }", #"B.notEqual(B.keyPath(_$model1, \.owner), constant: me)"#),
    ("{ $0.title == \"a\" }", #"B.equal(B.keyPath(_$model1, \.title), literal: "a")"#),
    (
      "{ $0.owner == nil }",
      #"P.build_Equal(lhs: B.keyPath(_$model1, \.owner), rhs: P.build_NilLiteral())"#
    ),
    ("{ other.evaluate($0) }", "B.evaluate(other, _$model1)"),
    ("{ (self.others.last).evaluate($0) }", "B.evaluate((self.others.last), _$model1)"),
    (
      "{ $0.date < Date.now }",
      #"P.build_Comparison(lhs: B.keyPath(_$model1, \.date), rhs: P.Value(Date.now), op: .lessThan)"#
    ),
    ("{ filter == nil }", "P.Value(filter == nil)"),
    (
      "{ $0.tags.contains(\"x\") }", #"P.build_contains(B.keyPath(_$model1, \.tags), P.Value("x"))"#
    ),
    (
      "{ $0.pages == pages[0] }",
      #"B.equal(B.keyPath(_$model1, \.pages), failing: B.element(of: pages, at: 0))"#
    ),
    (
      "{ $0.pages > limit! }",
      #"P.build_Comparison(lhs: B.keyPath(_$model1, \.pages), rhs: B.required(B.unwrapping(limit)), op: .greaterThan)"#
    ),
    (
      "{ $0.owner?.name == name }",
      #"let _$side3 = B.flatMap(B.keyPath(_$model1, \.owner)) { _$value2 in B.keyPath(_$value2, \.name) }; return B.equal(_$side3, constant: name)"#
    ),
    (
      "{ $0.loans.allSatisfy(\\.isOver) }",
      #"P.build_allSatisfy(B.keyPath(_$model1, \.loans), { _$element2 in B.keyPath(_$element2, \.isOver) })"#
    ),
    (
      "{ filter?.evaluate($0) ?? true }",
      "P.build_NilCoalesce(lhs: B.ifPresent(filter) { _$value2 in B.evaluate(_$value2, _$model1) }, rhs: P.Value(true))"
    ),
    ("{ !$0.isLent }", #"P.build_Negation(B.keyPath(_$model1, \.isLent))"#),
    ("{ $0 is Novel }", "P.TypeCheck<_, Novel>(_$model1)"),
    ("{ _ in names.map { $0.count }.contains(3) }", "P.Value(names.map { $0.count }.contains(3))"),
  ])
  func `has nodes for what depends on the model, and values for the rest`(
    closure: String,
    body: String
  ) {
    let name = closure.hasPrefix("{ _ in") ? "_" : "_$model1"
    #expect(tree(closure) == "Foundation.Predicate<Book>({ \(name) in \(body) })")
  }

  @Test func `keeps names of parameters apart from those of constants`() {
    #expect(
      tree("{ book in books.contains { book in book.pages > 3 } && book.isLent }")
        == #"Foundation.Predicate<Book>({ _$book1 in let _$condition2 = B.condition(B.keyPath(_$book1, \.isLent)); return P.build_Conjunction(lhs: P.Value(books.contains { book in book.pages > 3 }), rhs: _$condition2) })"#
    )
  }

  @Test func `makes each operand of a condition a statement of its own`() {
    #expect(
      tree("{ ($0.isLent || $0.isOld) && !($0.isNew && $0.isLent) }")
        == #"Foundation.Predicate<Book>({ _$model1 in "#
        + #"let _$condition2 = B.condition(B.keyPath(_$model1, \.isLent)); "#
        + #"let _$condition3 = B.condition(B.keyPath(_$model1, \.isOld)); "#
        + #"let _$condition4 = B.condition(B.keyPath(_$model1, \.isNew)); "#
        + #"let _$condition5 = B.condition(B.keyPath(_$model1, \.isLent)); "#
        + #"let _$condition6 = B.condition(P.build_Negation(P.build_Conjunction(lhs: _$condition4, rhs: _$condition5))); "#
        + #"return P.build_Conjunction(lhs: P.build_Disjunction(lhs: _$condition2, rhs: _$condition3), rhs: _$condition6) })"#
    )
  }

  @Test func `makes statements in the innermost closure`() {
    #expect(
      tree("{ $0.loans.contains { $0.isOver && $0.isLent } }")
        == #"Foundation.Predicate<Book>({ _$model1 in P.build_contains(B.keyPath(_$model1, \.loans), where: { _$model2 in "#
        + #"let _$condition3 = B.condition(B.keyPath(_$model2, \.isOver)); "#
        + #"let _$condition4 = B.condition(B.keyPath(_$model2, \.isLent)); "#
        + #"return P.build_Conjunction(lhs: _$condition3, rhs: _$condition4) }) })"#
    )
  }

  @Test func `makes each optional chain of a comparison a statement of its own`() {
    #expect(
      tree("{ $0.owner?.name == $0.author?.name }")
        == #"Foundation.Predicate<Book>({ _$model1 in "#
        + #"let _$side3 = B.flatMap(B.keyPath(_$model1, \.owner)) { _$value2 in B.keyPath(_$value2, \.name) }; "#
        + #"let _$side5 = B.flatMap(B.keyPath(_$model1, \.author)) { _$value4 in B.keyPath(_$value4, \.name) }; "#
        + #"return B.equal(_$side3, _$side5) })"#
    )
  }

  @Test func `states the types that the closure states`() {
    #expect(
      Expansion("#Predicate { (book: Book) in book.isLent }").lines.joined()
        == #"Foundation.Predicate({ (_$book1: Foundation.PredicateExpressions.Variable<Book>) in ModelRuntime._PredicateBuilder.keyPath(_$book1, \.isLent) })"#
    )
  }

  @Test func `is the same for an expression`() {
    #expect(
      Expansion("#Expression<Book, Int> { $0.pages }").lines.joined()
        == #"Foundation.Expression<Book, Int>({ _$model1 in ModelRuntime._PredicateBuilder.keyPath(_$model1, \.pages) })"#
    )
  }

  @Test func `takes the closure as an argument, too`() {
    #expect(
      Expansion("#Predicate<Book>({ $0.isLent })").lines
        == Expansion("#Predicate<Book> { $0.isLent }").lines
    )
  }
}

@Suite struct `A predicate that cannot be written` {
  private func expand(_ closure: String) -> Expansion { Expansion("#Predicate<Book> \(closure)") }

  @Test(arguments: [
    ("{ $0.title.hasPrefix(\"a\") }", "starts(with:)", "{ $0.title.starts(with: \"a\") }"),
    (
      "{ $0.title.localizedCaseInsensitiveContains(text) }", "localizedStandardContains(_:)",
      "{ $0.title.localizedStandardContains(text) }"
    ),
    (
      "{ $0.title.localizedStandardCompare(text) == .orderedSame }", "localizedCompare(_:)",
      "{ $0.title.localizedCompare(text) == .orderedSame }"
    ),
  ])
  func `offers the function that can be`(closure: String, function: String, fixed: String) {
    let expansion = expand(closure)
    #expect(expansion.messages.count == 1)
    #expect(expansion.messages.first?.hasSuffix("use '\(function)'") == true)
    #expect(expansion.fixed() == "#Predicate<Book> \(fixed)")
  }

  @Test(arguments: [
    ("{ $0.title.lowercased() == text }", "caseInsensitiveCompare"),
    ("{ $0.title.hasSuffix(text) }", "'contains(_:)'"),
    ("{ isOld($0) }", "'isOld'"),
    ("{ $0.pages.isMultiple(of: 2) }", "'isMultiple(of:)'"),
    ("{ $0.pages & 1 == 1 }", "no operator '&'"),
    ("{ print(\"x\"); return $0.isLent }", "one expression"),
    ("{ for page in pages { } }", "one expression"),
    ("{ book in var n = book.pages; return n > 3 }", "one expression"),
    ("{ book in if book.isLent { return true } }", "add an 'else'"),
    ("{ book in if case .novel = book.kind { true } else { false } }", "no patterns"),
    ("{ book in switch book.kind { case .novel: true } }", "no 'switch'"),
    ("{ ($0.pages, 1) == (2, 1) }", "no tuples"),
    ("{ $0.filter.evaluate(3) }", "known when this one is made"),
    ("{ }", "neither yes nor no"),
    ("{ \"\\($0.pages)\" == text }", "inside"),
  ])
  func `says why, and what to write instead`(closure: String, words: String) {
    let messages = expand(closure).messages
    #expect(messages.count == 1)
    #expect(messages.first?.contains(words) == true, "\(messages)")
  }

  @Test func `without a closure asks for one`() {
    #expect(Expansion("#Predicate<Book>(test)").messages.first?.contains("needs a closure") == true)
  }
}
