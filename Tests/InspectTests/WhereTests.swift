import Terminal
import Testing

@testable import logstore_inspect

@Suite struct `A condition` {
  private func shape(_ text: String) throws -> String { "\(try ConditionParser.condition(text))" }

  @Test(arguments: [
    ("a == 1 && b < 2 || c", "any of (all of (a == 1, b < 2), c)"),
    ("a == 1 and (b < 2 or not c)", "all of (a == 1, any of (b < 2, not c))"),
    ("!(a >= -1.5e2)", "not a >= -150.0"),
    ("name = 'O\\'Hare' || \"x\" != name", "any of (name == \"O'Hare\", \"x\" != name)"),
    ("k in [1, 2,3]", "k in 3"),
    ("k not in ()", "not k in 0"),
    ("k in 1..<5", "k in 1 up to 5"),
    ("k in 'a'...'b'", "k in \"a\" through \"b\""),
    ("name contains[c] \"ö\"", "name contains \"ö\" ignoring case"),
    ("name.startsWith(\"O\")", "name startsWith \"O\""),
    ("name NOT CONTAINS 'x' AND TRUE", "all of (not name contains \"x\", true)"),
    ("a is nil", "a == nil"), ("a is not null", "a != nil"),
    ("`in` == `two words`", "in == two words"),
    ("\"\\u{48}i\\n\" == a", "\"Hi\n\" == a"), ("a<b", "a < b"),
    ("1_000 <= a", "1000 <= a"),
  ])
  func `is read as it is meant`(text: String, expected: String) throws {
    #expect(try ConditionParser.condition(text).outline == expected)
  }

  @Test(arguments: [
    ("", 0, "a column or a value", "the end"), ("a ==", 4, "a value or a column", "the end"),
    ("a == 1 b", 7, "&&, || or the end", "b"), ("(a == 1", 7, ")", "the end"),
    ("a == 'x", 5, "a closing '", "the end"), ("a & b", 2, "a column, a value", "&"),
    ("a == 12x", 7, "a number", "12x"), ("a in 5", 6, "... or ..<", "the end"),
    ("a in [1 2]", 8, ", or ]", "2"), ("a like 'x'", 2, "a relation such as", "like"),
    ("5", 1, "a relation such as == or <", "the end"), ("a.b == 1", 2, "contains, startsWith", "b"),
    ("a == 99999999999999999999", 5, "an integer from", "99999999999999999999"),
    ("a == '\\q'", 6, "one of", "\\q"), ("a contains b", 11, "a text", "b"),
    ("a not 1", 6, "in, contains", "1"), ("a is 5", 5, "nil", "5"),
  ])
  func `says where it cannot be read, what would do, and what is there`(
    text: String,
    position: Int,
    expected: String,
    found: String
  ) {
    do {
      _ = try ConditionParser.condition(text)
      Issue.record("\(text) was read")
    } catch {
      #expect(error.position == position)
      #expect(error.expected.hasPrefix(expected), "\(error.expected)")
      #expect(error.found == found)
    }
  }

  @Test func `marks the place under the text`() {
    let error = WhereError(text: "größe >\tand", position: 8, expected: "a value", found: "and")
    #expect(error.toolError(in: "--where").place == "größe > and\n        ^ character 9")
  }

  @Test func `never traps, whatever is cut out of it or put into it`() {
    let samples = [
      "a == 1 && (b < -2.5e3 || !c) and name contains[c] \"O\\u{48}\"",
      "k in [1, 2, 'x'] or d in '2013-01-01'..<'2014-01-01' && `odd name` is not nil",
      "not (name.startsWith('x')) != nil", String(repeating: "(", count: 300),
      String(repeating: "!", count: 300), String(repeating: "a || ", count: 300),
    ]
    let pieces = Array("\"'`()[]{}.,<>=!&|-\\u0e5ax \n\tß∞").map(String.init) + ["&&", "in", "..."]
    var random = Random(state: 17)
    for sample in samples {
      let characters = Array(sample)
      for length in 0...characters.count {
        _ = try? ConditionParser.condition(String(characters[..<length]))
        _ = try? SelectParser.sortKeys(String(characters[length...]))
      }
      for _ in 0..<500 {
        var mutated = characters
        for _ in 0..<Int(random.next() % 3 + 1) {
          let place = Int(random.next() % UInt64(mutated.count + 1))
          let end = min(place + Int(random.next() % 4), mutated.count)
          mutated.replaceSubrange(
            place..<end,
            with: pieces[Int(random.next() % UInt64(pieces.count))]
          )
        }
        let text = String(mutated)
        do {
          _ = try ConditionParser.condition(text)
        } catch {
          #expect((0...text.count).contains(error.position), "\(text)")
          _ = error.toolError(in: "--where").description
        }
        _ = try? SelectParser.items(text)
      }
    }
  }

  @Test func `takes thousands of parts, and not more than so many in each other`() throws {
    let long = Array(repeating: "a == 1", count: 20_000).joined(separator: " || ")
    guard case .any(let parts) = try ConditionParser.condition(long) else {
      Issue.record("no disjunction")
      return
    }
    #expect(parts.count == 20_000)
    let deep = String(repeating: "!", count: ConditionParser.depthLimit + 1) + "a"
    #expect(throws: WhereError.self) { try ConditionParser.condition(deep) }
    #expect(throws: Never.self) { try ConditionParser.condition(String(deep.dropFirst())) }
  }
}

@Suite struct `A date in a condition` {
  @Test(arguments: [
    ("2001-01-01", 0.0), ("2001-01-01T00:00:01Z", 1), ("2001-01-01 00:00:00.25", 0.25),
    ("2001-01-01T02:00+02:00", 0), ("2000-12-31T23:59:59Z", -1), ("2001-01-01T00:00:00-0130", 5400),
    ("1970-01-01T00:00:00Z", -978_307_200), ("2024-02-29", 730_857_600),
  ])
  func `is ISO 8601`(text: String, seconds: Double) {
    #expect(Timestamp(text)?.seconds == seconds)
  }

  @Test(arguments: [
    "", "2001", "2001-13-01", "2001-02-29", "2001-01-01T", "2001-01-01T24:00", "2001-01-01x",
    "2001-01-01T00:00:00.", "2001-1-1", "+001-01-01",
  ])
  func `is nothing else`(text: String) { #expect(Timestamp(text) == nil) }

  @Test func `is read as it is printed`() {
    var random = Random(state: 3)
    for _ in 0..<2000 {
      let seconds = Double(Int64(random.next() % 120_000_000_000) - 60_000_000_000)
      #expect(Timestamp("\(Timestamp(seconds: seconds))")?.seconds == seconds)
    }
  }
}

/// A step of a linear congruential generator, its halves mixed.
private struct Random {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ state >> 33
  }
}

extension Condition {
  /// The condition in words.
  fileprivate var outline: String {
    switch self {
    case .all(let parts): "all of (\(parts.map(\.outline).joined(separator: ", ")))"
    case .any(let parts): "any of (\(parts.map(\.outline).joined(separator: ", ")))"
    case .not(let part): "not \(part.outline)"
    case .comparison(let lhs, let relation, let rhs):
      "\(lhs.outline) \(relation.outline) \(rhs.outline)"
    case .membership(let operand, let values): "\(operand.outline) in \(values.count)"
    case .range(let operand, let lower, let upper, let includesUpper):
      "\(operand.outline) in \(lower.outline) \(includesUpper ? "through" : "up to") \(upper.outline)"
    case .text(let operand, let test, let text, let ignoresCase):
      "\(operand.outline) \(test.rawValue) \(text.outline)\(ignoresCase ? " ignoring case" : "")"
    case .flag(let operand): operand.outline
    }
  }
}

extension Condition.Relation {
  fileprivate var outline: String {
    switch self {
    case .equal: "=="
    case .notEqual: "!="
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    }
  }
}

extension Condition.Operand {
  fileprivate var outline: String {
    switch self {
    case .column(let name, _): name
    case .literal(let literal): literal.outline
    }
  }
}

extension Condition.Literal {
  fileprivate var outline: String {
    switch value {
    case .null: "nil"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .double(let value): "\(value)"
    case .text(let text): "\"\(text)\""
    }
  }
}
