import Foundation
import Testing

@testable import ModelRuntime

@Suite struct `An identifier as text` {
  static let awkward = ["Note", "Outer.Inner", "a/b", "?#&=", "100%", "日本", " ", "p1", "t1", "~-_"]

  private func identifiers() throws -> [PersistentIdentifier] {
    var all: [PersistentIdentifier] = []
    for name in Self.awkward {
      let origin = IdentifierOrigin.named(store: "store \(name)", entity: name)
      all.append(PersistentIdentifier(origin: origin, key: 0))
      all.append(PersistentIdentifier(origin: origin, key: .max))
      for key in Self.awkward + ["", "-1", "007", "1.5"] {
        all.append(try .identifier(for: name, entityName: "Note", primaryKey: key))
      }
      let temporary = IdentifierOrigin.named(store: nil, entity: name)
      all.append(PersistentIdentifier(origin: temporary, key: 12))
    }
    return all
  }

  @Test func `is read back from its URL`() throws {
    for identifier in try identifiers() {
      let url = identifier.uriRepresentation()
      #expect(PersistentIdentifier(uri: url) == identifier, "\(url)")
      // Also as text, as it comes out of a database, say.
      let copy = try #require(URL(string: url.absoluteString))
      #expect(PersistentIdentifier(uri: copy) == identifier, "\(url)")
      #expect(url == identifier.uriRepresentation())
    }
  }

  @Test func `is read back from one part of a path`() throws {
    for identifier in try identifiers() {
      let text = identifier.urlComponent
      #expect(PersistentIdentifier(urlComponent: text) == identifier, "\(text)")
      let url = try #require(URL(string: "https://example.org/notes/\(text)/edit"))
      #expect(!text.contains("/"))
      #expect(url.absoluteString.contains("/notes/\(text)/edit"))
    }
  }

  @Test func `differs where identifiers differ`() throws {
    let all = Set(try identifiers())
    #expect(Set(all.map(\.urlComponent)).count == all.count)
    #expect(Set(all.map { $0.uriRepresentation() }).count == all.count)
  }

  @Test func `is short`() {
    let origin = IdentifierOrigin.named(store: UUID().uuidString, entity: "Note")
    #expect(PersistentIdentifier(origin: origin, key: 5_000_000).urlComponent.count == 50)
  }

  @Test(arguments: [
    "", ".", "..", "Note", "Note.p1", "Note.p1.", ".p1.s", "Note.p.s", "Note.p01.s", "Note.p-1.s",
    "Note.p18446744073709551616.s", "Note.t1.s", "Note.k1.s", "Note.k%zz.s", "Note.x1.s",
    "Note.p1.s.t", "No%74e.p1.s", "Note.p1.a b", "Note.k%FF.s",
  ])
  func `is nothing that was never one`(text: String) {
    #expect(PersistentIdentifier(urlComponent: text) == nil)
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let path = (parts.dropFirst(2) + parts.prefix(2)).joined(separator: "/")
    let uri = "x-swiftdata://" + path
    // Where Foundation mends a text to make a URL of it, the URL is another.
    if let url = URL(string: uri), url.absoluteString == uri {
      #expect(PersistentIdentifier(uri: url) == nil, "\(uri)")
    }
  }

  @Test(arguments: [
    "https://s/Note/p1", "x-coredata://s/Note/p1", "x-swiftdata:s/Note/p1", "file:///a",
  ])
  func `is no other URL`(text: String) throws {
    #expect(PersistentIdentifier(uri: try #require(URL(string: text))) == nil)
  }

  @Test func `leaves nothing in memory once it is let go of`() throws {
    let known = IdentifierOrigin.knownCount
    for number in 0..<20_000 {
      let text = "Nobody\(number).p1.nowhere"
      #expect(PersistentIdentifier(urlComponent: text) != nil)
      #expect(PersistentIdentifier(urlComponent: "Nobody\(number).p01.nowhere") == nil)
    }
    let json = Data(
      #"{"implementation":{"primaryKey":"1","entityName":"Nobody","storeIdentifier":"gone"}}"#.utf8
    )
    weak var origin: IdentifierOrigin?
    do {
      let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: json)
      origin = decoded.id.origin
      #expect(PersistentIdentifier(urlComponent: decoded.urlComponent) == decoded)
    }
    #expect(origin == nil)
    #expect(IdentifierOrigin.knownCount < known + 10_000)
  }

  @Test func `is the identifier that a store gives, whichever came first`() throws {
    let store = UUID().uuidString
    let text = "Note.p12.\(store)"
    let before = try #require(PersistentIdentifier(urlComponent: text))
    let own = PersistentIdentifier(origin: .named(store: store, entity: "Note"), key: 12)
    let after = try #require(PersistentIdentifier(urlComponent: text))
    #expect(before == own && own == after)
    #expect(Set([before, own, after]).count == 1)
  }

  @Test func `names one origin for all threads`() async throws {
    let store = UUID().uuidString
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<4 {
        group.addTask {
          (0..<5000).allSatisfy { number in
            let text = "Note\(number % 7).p\(number).\(store)"
            guard let first = PersistentIdentifier(urlComponent: text) else { return false }
            return first == PersistentIdentifier(urlComponent: text) && first.urlComponent == text
          }
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }

  private struct Key: Codable, Hashable, Comparable, CustomStringConvertible {
    var region = "eu"
    var number = 1
    var kind = "a"
    var zone = "z"
    var description: String { "\(region) \(number)" }
    static func < (lhs: Key, rhs: Key) -> Bool { lhs.number < rhs.number }
  }

  @Test func `is the same each time for a key of several parts`() throws {
    let first = try PersistentIdentifier.identifier(for: "s", entityName: "Note", primaryKey: Key())
    for _ in 0..<50 {
      #expect(
        try .identifier(for: "s", entityName: "Note", primaryKey: Key()) == first
      )
    }
  }
}
