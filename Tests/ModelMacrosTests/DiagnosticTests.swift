import SwiftDiagnostics
import Testing

@Suite struct `A macro on the wrong declaration` {
  @Test(arguments: ["struct", "actor"])
  func `of a type that could be a class offers to make it one`(kind: String) {
    let expansion = Expansion("@Model \(kind) Book { var n = 0 }")
    #expect(expansion.messages == ["'@Model' cannot be applied to \(kind) type 'Book'"])
    #expect(expansion.fixed() == "@Model final class Book { var n = 0 }")
    #expect(!expansion.lines.contains { $0.contains("_$state") })
  }

  @Test func `of an enumeration refuses it`() {
    let expansion = Expansion("@Model enum Book { case a }")
    #expect(expansion.messages == ["'@Model' cannot be applied to enum type 'Book'"])
    #expect(expansion.diagnostics.first?.fixIts.isEmpty == true)
  }

  @Test func `that is for actors offers to make a class one`() {
    let expansion = Expansion("@ModelActor class Importer {}")
    #expect(expansion.messages.first == "'@ModelActor' cannot be applied to class type 'Importer'")
    #expect(expansion.fixed() == "@ModelActor actor Importer {}")
  }
}

@Suite struct `A model that cannot work` {
  private func expand(_ members: String, clause: String = "") -> Expansion {
    Expansion("@Model final class Book\(clause) {\n  \(members)\n  init() {}\n}")
  }

  @Test func `without an initializer is offered one for what has no value`() {
    let expansion = Expansion(
      """
      @Model final class Book {
        var title: String
        var pages = 0
        var author: Author?
      }
      """
    )
    #expect(expansion.messages == ["@Model requires an initializer be provided for 'Book'"])
    #expect(
      expansion.fixed() == """
        @Model final class Book {
          var title: String
          var pages = 0
          var author: Author?

          init(title: String) {
            self.title = title
          }
        }
        """
    )
  }

  @Test(arguments: [": Sendable", ": @unchecked Sendable", ": Swift.Sendable"])
  func `that claims to be Sendable is advised to drop the claim`(clause: String) {
    let expansion = expand("var n = 0", clause: clause)
    #expect(expansion.severities == [.warning])
    #expect(expansion.messages.first?.hasPrefix("'Book' should not be Sendable") == true)
    #expect(expansion.fixed()?.hasPrefix("@Model final class Book {") == true)
  }

  @Test func `that claims to be Sendable among others keeps the others`() {
    let expansion = expand("var n = 0", clause: ": Named, Sendable")
    #expect(expansion.fixed()?.hasPrefix("@Model final class Book: Named {") == true)
  }

  @Test(arguments: [
    (
      "lazy var n = 3", "@Model cannot persist 'lazy' property 'n'; mark it @Transient",
      "@Transient lazy var n = 3"
    ),
    (
      "unowned var n: Book?",
      "@Model cannot persist 'n': a stored relationship cannot be 'unowned'", "var n: Book?"
    ),
    (
      "var n: () -> Void = {}",
      "@Model cannot persist 'n': a function cannot be stored; mark it @Transient",
      "@Transient var n: () -> Void = {}"
    ),
    (
      "var n: (@Sendable () -> Void)?",
      "@Model cannot persist 'n': a function cannot be stored; mark it @Transient",
      "@Transient var n: (@Sendable () -> Void)?"
    ),
    (
      "@Published var n = 3", "@Model cannot persist 'n' through property wrapper '@Published'",
      "var n = 3"
    ),
    (
      "var a, b: Int",
      "@Model requires each persisted property to have a declaration of its own",
      "var a: Int\n  var b: Int"
    ),
    (
      "var a = 1, b: String?, c: Int",
      "@Model requires each persisted property to have a declaration of its own",
      "var a = 1\n  var b: String?\n  var c: Int"
    ),
    (
      "@Transient var n: Int",
      "@Transient requires non-optional property 'n' to have a default value",
      "@Transient var n: Int = <#default value#>"
    ),
  ])
  func `for one of its properties is told which, and what to do`(
    property: String,
    message: String,
    fixed: String
  ) {
    let expansion = expand(property)
    #expect(expansion.messages == [message])
    #expect(expansion.fixed() == "@Model final class Book {\n  \(fixed)\n  init() {}\n}")
  }

  @Test(arguments: [
    ("var n: (Int, String) = (1, \"\")", "a tuple is not Codable; use a Codable struct"),
    ("var (a, b) = (1, 2)", "properties declared by a tuple pattern"),
  ])
  func `for a tuple is told so`(property: String, message: String) {
    let expansion = expand(property)
    #expect(expansion.messages.count == 1)
    #expect(expansion.messages.first?.contains(message) == true)
  }

  @Test func `reports a refused property once, and not through generated code`() {
    let expansion = expand("var f: () -> Void")
    #expect(
      expansion.contains(
        "init(backingData: any ModelRuntime.BackingData<Book>) {\nSwift.fatalError()\n}"
      )
    )
  }

  @Test func `is warned that observers are not called`() {
    let expansion = expand("var n: Int = 0 { didSet { print(n) } }")
    #expect(expansion.diagnostics.map(\.diagMessage.severity) == [.warning])
    #expect(expansion.fixed()?.contains("var n: Int = 0\n") == true)
  }

  @Test(arguments: [
    "@Transient var n: Int?", "@Transient var n = 0", "@Transient lazy var n = 0",
    "@Transient weak var n: Book?", "@Transient var n: Int { 3 }", "@Transient let n = 4",
    "@Transient var n = 0 { didSet {} }", "static var n: () -> Void = {}", "var n: Int { 3 }",
    "var n: Int { get { 3 } set {} }", "static let a = 1, b = 2", "var n: (Int)",
  ])
  func `is not seen where there is none`(property: String) {
    #expect(expand(property).messages.isEmpty)
  }
}
