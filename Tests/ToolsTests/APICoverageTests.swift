import Foundation
import Testing

@testable import api_coverage

@Suite struct `A declaration` {
  @Test(arguments: [
    (
      "@discardableResult final public func save<T>(_ model: T) throws -> [T] where T : Model",
      "func save<T: Model>(_ x: T) throws -> [T]"
    ),
    ("static let all: Store.Kind", "static var all: Store.Kind { get }"),
    ("class var all: [String : Int] { get }", "static var all: [String: Int] { get }"),
    ("var name: String", "var name: String { get set }"),
    ("var name: String", "let name: String"),
    (
      "convenience init(_ name: String = \"a, b\", other: Int = 0)", "init(_ n: String, other: Int)"
    ),
    ("init(_ name: String = \"x\")", "init(_ name: String = \"y\")"),
    ("func `private`(_ name: String) -> Self.Kind", "func private(_: String) -> Kind"),
    ("func each(_ body: @escaping (Int) -> Void)", "func each(_ body: (Int) -> Void)"),
    ("static func == (lhs: Self, rhs: Self) -> Bool", "static func == (a: Self, b: Self) -> Bool"),
    (
      "case custom(from: Int, with: (@Sendable (A) throws -> Void)?)",
      "case custom(from: Int, with: (@Sendable (A) throws -> Void)?)"
    ),
    ("@attached(member, names: named(init)) macro Model()", "macro Model()"),
    ("@preconcurrency case both([PartialKeyPath<P>])", "case both([PartialKeyPath<P>])"),
    (
      "subscript<T>(id: ID, as as: T.Type) -> T? where T : P { get }",
      "subscript<T>(id: ID, as as: T.Type) -> T? where T: P { get }"
    ),
  ])
  func `fits what a caller cannot tell from it`(ours: String, theirs: String) throws {
    #expect(try #require(Declaration(ours)).fits(#require(Declaration(theirs))))
  }

  @Test(arguments: [
    ("func save()", "func save() throws"), ("func save()", "static func save()"),
    ("let name: String", "var name: String"), ("var name: String?", "var name: String"),
    ("init(_ n: Int)", "init(_ n: Int = 0)"), ("init(n: Int)", "init(_ n: Int)"),
    ("init(_ n: Int)", "init?(_ n: Int)"), ("func a<T>(_ x: T) where T: P", "func a<T>(_ x: T)"),
    ("case a(Int)", "case a"), ("func f(_ x: A.B)", "func f(_ x: B)"),
    ("static func < (a: Self, b: Self) -> Bool", "static func == (a: Self, b: Self) -> Bool"),
  ])
  func `does not fit what differs`(ours: String, theirs: String) throws {
    #expect(try #require(Declaration(ours)).fits(#require(Declaration(theirs))) == false)
  }

  @Test(arguments: ["", "@MainActor", "hello world"])
  func `is not read from what is none`(text: String) { #expect(Declaration(text) == nil) }
}

@Suite struct `A ledger of declarations` {
  private static let graph = """
    {"symbols":[
      {"identifier":{"precise":"a"},"pathComponents":["Store"],"accessLevel":"public",
       "declarationFragments":[{"spelling":"class"},{"spelling":" "},{"spelling":"Store"}]},
      {"identifier":{"precise":"b"},"pathComponents":["Store","save()"],"accessLevel":"public",
       "declarationFragments":[{"spelling":"func save() throws"}]},
      {"identifier":{"precise":"c"},"pathComponents":["Store","hidden"],"accessLevel":"internal",
       "declarationFragments":[{"spelling":"var hidden: Int"}]}],
     "relationships":[
      {"kind":"conformsTo","source":"a","target":"x","targetFallback":"Swift.Hashable"}]}
    """

  private func report(_ ledger: String) throws -> CoverageReport {
    let graph = try JSONDecoder().decode(SymbolGraph.self, from: Data(Self.graph.utf8))
    return CoverageReport(comparing: try Ledger(parsing: ledger), with: PublicSymbols([graph]))
  }

  @Test(arguments: [
    ("class Store: Hashable", CoverageReport.Finding.present), ("class Store: Codable", .missing),
    ("class Stall", .missing), ("class Store\n  func save() throws", .present),
    ("class Store\n  var hidden: Int", .missing),
    ("class Store\n  func keep() throws -- as: func save() throws", .present),
    ("class Store\n  func keep() -- absent: nobody needs it", .absent),
    ("class Store\n  func keep() -- later: keeping", .later),
    ("class Store\n  func save() throws -- later: saving", .outdated),
    ("class Store\n\n# words\n-\n  func save() throws", .missing),
  ])
  func `is compared line by line`(ledger: String, finding: CoverageReport.Finding) throws {
    #expect(try report(ledger).lines.last?.finding == finding)
  }

  @Test func `ends with the sum`() throws {
    let ledger =
      "class Store: Hashable\n  func save() throws\n  func keep() -- later: keeping\n  func go()"
    let report = try report(ledger)
    #expect(report.hasProblems)
    #expect(report.text(all: false).hasSuffix("2 present, 0 absent by intent, 1 later, 1 missing"))
  }

  @Test(arguments: ["Store", "class Store -- why not", "class Store -- as: nothing"])
  func `that cannot be read names the line`(line: String) {
    #expect { try Ledger(parsing: "# first\n" + line) } throws: { "\($0)".contains("line 2") }
  }
}
