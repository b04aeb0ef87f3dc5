import Foundation
import ModelRuntime

/// Makes predicates and sorts at random.
struct Generator {
  var random: Chance
  /// Whether nodes may lack an answer: not where it would depend on which member of a list is asked first.
  private var mayFail = true
  /// Whether the predicate may read what is not stored.
  private var mayNeedObjects: Bool
  /// The identifiers of makers, by serial number; none where predicates are not to name models.
  private let makers: [Int: PersistentIdentifier]

  /// - Parameters:
  ///   - random: Chance.
  ///   - mayNeedObjects: Whether some predicates are to read what is not stored.
  ///   - makers: The identifiers of makers that predicates may name, by serial number.
  init(_ random: Chance, mayNeedObjects: Bool, makers: [Int: PersistentIdentifier]) {
    var random = random
    self.makers = makers
    self.mayNeedObjects = mayNeedObjects && random.percent(10)
    self.random = random
  }

  mutating func predicate() -> Node<Bool> { test(depth: random.below(4)) }

  // MARK: Tests

  private mutating func test(depth: Int) -> Node<Bool> {
    if depth > 0 {
      switch random.below(12) {
      case 0, 1, 2: return .and(test(depth: depth - 1), test(depth: depth - 1))
      case 3, 4: return .or(test(depth: depth - 1), test(depth: depth - 1))
      case 5, 6: return .not(test(depth: depth - 1))
      case 7:
        return .conditional(
          test(depth: depth - 1),
          test(depth: depth - 1),
          test(depth: depth - 1)
        )
      default: break
      }
    }
    switch random.below(16) {
    case 0, 1, 2, 3: return numberTest()
    case 4, 5: return textTest()
    case 6, 7: return valueTest()
    case 8, 9, 10: return optionalTest()
    case 11: return memberTest()
    case 12: return relationTest()
    case 13: return classTest()
    case 14: return .piece(.init(name: "flag", model: \.flag, record: \.flag))
    default: return coveredTest()
    }
  }

  /// A node that always has an answer.
  private mutating func total<R>(_ body: (inout Generator) -> R) -> R {
    let before = mayFail
    mayFail = false
    defer { mayFail = before }
    return body(&self)
  }

  private mutating func numberTest() -> Node<Bool> {
    switch random.below(9) {
    case 0: compare(integer(Int.self, depth: 2), Samples.integers)
    case 1: compare(integer(Int8.self, depth: 1), Samples.smalls)
    case 2: compare(integer(Int32.self, depth: 1), Samples.middles)
    case 3: compare(integer(UInt8.self, depth: 1), Samples.bytes)
    case 4: compare(integer(UInt64.self, depth: 1), Samples.wides)
    case 5: compare(float(ratioLeaf(), Samples.ratios, depth: 1), Samples.readings)
    case 6: compare(float(readingLeaf(), Samples.readings, depth: 1), Samples.readings)
    case 7: compare(float(shareLeaf(), Samples.shares, depth: 1), Samples.shares)
    default: .order(integer(Int.self, depth: 1), order(), integer(Int.self, depth: 1))
    }
  }

  private mutating func textTest() -> Node<Bool> {
    let text = text()
    let other: Node<String> =
      random.percent(85)
      ? constant(Samples.texts) : .piece(.init(name: "name", model: \.name, record: \.name))
    switch random.below(5) {
    case 0: return .text(text, .contains, other)
    case 1: return .text(text, .starts, other)
    case 2: return .text(text, .localizedStandardContains, other)
    case 3: return .equal(text, random.percent(70), other)
    default: return .order(text, order(), other)
    }
  }

  private mutating func valueTest() -> Node<Bool> {
    switch random.below(9) {
    case 0: compare(.piece(.init(name: "made", model: \.made, record: \.made)), Samples.dates)
    case 1: compare(.piece(.init(name: "token", model: \.token, record: \.token)), Samples.tokens)
    case 2:
      same(.piece(.init(name: "payload", model: \.payload, record: \.payload)), Samples.payloads)
    case 3: same(.piece(.init(name: "link", model: \.link, record: \.link)), Samples.links)
    case 4: compare(.piece(.init(name: "price", model: \.price, record: \.price)), Samples.prices)
    case 5: same(.piece(.init(name: "size", model: \.size, record: \.size)), Size.allCases)
    case 6: same(.piece(.init(name: "tone", model: \.tone, record: \.tone)), Tone.allCases)
    case 7: same(.piece(.init(name: "box", model: \.box, record: \.box)), Samples.boxes)
    default:
      compare(
        .property(
          .piece(.init(name: "size", model: \.size, record: \.size)),
          "rawValue",
          \.rawValue
        ),
        [0, 1, 2, 5]
      )
    }
  }

  private mutating func optionalTest() -> Node<Bool> {
    switch random.below(13) {
    case 0: sameOptional(maybeNumber(), Samples.integers)
    case 1:
      sameOptional(
        .piece(.init(name: "maybeRatio", model: \.maybeRatio, record: \.maybeRatio)),
        Samples.readings
      )
    case 2: sameOptional(note(), Samples.texts)
    case 3:
      sameOptional(
        .piece(.init(name: "maybeFlag", model: \.maybeFlag, record: \.maybeFlag)),
        [true, false]
      )
    case 4: sameOptional(.piece(.init(name: "seen", model: \.seen, record: \.seen)), Samples.dates)
    case 5:
      sameOptional(
        .piece(.init(name: "maybeToken", model: \.maybeToken, record: \.maybeToken)),
        Samples.tokens
      )
    case 6:
      sameOptional(
        .piece(.init(name: "maybeSize", model: \.maybeSize, record: \.maybeSize)),
        Size.allCases
      )
    case 7: sameOptional(.boxField("width", \.width), [0, 3, -1, .max])
    case 8: sameOptional(.maker(Fields.makerName), Samples.texts)
    case 9: sameOptional(.maker(Fields.makerRank), Fields.ranks)
    case 10: sameOptional(.maker(Fields.makerCountry), Samples.texts)
    case 11: sameOptional(.maker(Fields.makerTone), Tone.allCases)
    default: sameOptional(.power, Samples.integers)
    }
  }

  private mutating func memberTest() -> Node<Bool> {
    switch random.below(5) {
    case 0:
      .contained(integer(Int.self, depth: 0), several(Samples.integers), asSet: random.percent(50))
    case 1: .contained(text(), several(Samples.texts), asSet: random.percent(50))
    case 2:
      .contained(
        .piece(.init(name: "tone", model: \.tone, record: \.tone)),
        several(Tone.allCases),
        asSet: random.percent(50)
      )
    case 3:
      .contained(
        .piece(.init(name: "token", model: \.token, record: \.token)),
        several(Samples.tokens),
        asSet: random.percent(50)
      )
    default:
      .contained(
        .piece(.init(name: "made", model: \.made, record: \.made)),
        several(Samples.dates),
        asSet: random.percent(50)
      )
    }
  }

  private mutating func relationTest() -> Node<Bool> {
    switch random.below(12) {
    case 0: return .hasMaker(random.percent(50))
    case 7: return .hasFormer(random.percent(50))
    case 1: return compare(.markCount, [0, 1, 2])
    case 2: return .siblings(total { $0.test(depth: 1) })
    case 3: return .spares(total { $0.markTest() })
    case 4: return sameOptional(.spareCount, [0, 1, 2])
    case 5 where !makers.isEmpty: return maker()
    case 6 where !makers.isEmpty: return oneOfMakers()
    default:
      let isAll = random.percent(40)
      return .marks(total { $0.markTest() }, all: isAll)
    }
  }

  /// Whether the maker is a certain one, or none.
  private mutating func maker() -> Node<Bool> {
    let serial = random.percent(80) ? random.pick(makers.keys.sorted()) : nil
    return .equal(
      .makerIdentifier(makers),
      random.percent(60),
      .constant(
        serial.flatMap { makers[$0] },
        serial.map { "maker\($0).persistentModelID" } ?? "nil"
      )
    )
  }

  /// Whether the maker is one of several.
  private mutating func oneOfMakers() -> Node<Bool> {
    let serial = random.pick(makers.keys.sorted())
    guard let other = makers[serial] else { preconditionFailure("there is maker \(serial)") }
    return .contained(
      .coalesced(.makerIdentifier(makers), .constant(other, "maker\(serial).persistentModelID")),
      several(makers.sorted { $0.key < $1.key }.map(\.value)),
      asSet: random.percent(50)
    )
  }

  private mutating func markTest() -> Node<Bool> {
    switch random.below(4) {
    case 0: compare(.mark(Fields.markWeight), Samples.readings)
    case 1: .text(.mark(Fields.markName), .contains, constant(Samples.texts))
    case 2:
      .equal(
        .mark(Fields.markName),
        true,
        .piece(.init(name: "name", model: \.name, record: \.name))
      )
    default: .and(compare(.mark(Fields.markWeight), Samples.ratios), numberTest())
    }
  }

  private mutating func classTest() -> Node<Bool> {
    random.percent(60)
      ? .isGadget
      : .order(.coalesced(.power, constant(Samples.integers)), order(), constant(Samples.integers))
  }

  /// A test that is a range, or of a value that is unwrapped by force.
  private mutating func coveredTest() -> Node<Bool> {
    switch random.below(4) {
    case 0:
      let ends = [random.pick(Samples.integers), random.pick(Samples.integers)].sorted()
      return .within(integer(Int.self, depth: 0), ends[0], ends[1])
    case 1:
      let ends = [random.pick(Samples.dates), random.pick(Samples.dates)].sorted()
      return .within(.piece(.init(name: "made", model: \.made, record: \.made)), ends[0], ends[1])
    case 2 where mayFail:
      return compare(.unwrapped(maybeNumber()), Samples.integers)
    case 3 where mayFail:
      return .text(.unwrapped(note()), .contains, constant(Samples.texts))
    default:
      return compare(.coalesced(maybeNumber(), constant(Samples.integers)), Samples.integers)
    }
  }

  // MARK: Values

  private func maybeNumber() -> Node<Int?> {
    .piece(.init(name: "maybeNumber", model: \.maybeNumber, record: \.maybeNumber))
  }

  private func note() -> Node<String?> {
    .piece(.init(name: "note", model: \.note, record: \.note))
  }

  private mutating func text() -> Node<String> {
    switch random.below(5) {
    case 0: .coalesced(note(), constant(Samples.texts))
    case 1: .coalesced(.maker(Fields.makerName), constant(Samples.texts))
    case 2: .coalesced(.maker(Fields.makerCountry), constant(Samples.texts))
    default: .piece(.init(name: "name", model: \.name, record: \.name))
    }
  }

  private mutating func integer<T: FixedWidthInteger & Codable & Sendable>(
    _: T.Type,
    depth: Int
  ) -> Node<T> {
    if depth > 0, mayFail {
      switch random.below(8) {
      case 0, 1:
        let lhs = integer(T.self, depth: depth - 1)
        return .arithmetic(lhs, random.pick(NumberOperator.allCases), integer(T.self, depth: 0))
      case 2:
        let lhs = integer(T.self, depth: depth - 1)
        return .division(lhs, integer(T.self, depth: 0), isRemainder: random.percent(50))
      case 3:
        if let negative = negative(integer(T.self, depth: depth - 1)) { return negative }
      default: break
      }
    }
    return integerLeaf(T.self)
  }

  private func negative<T>(_ node: Node<T>) -> Node<T>? {
    func open<S: FixedWidthInteger & SignedInteger & Codable & Sendable>(_: S.Type) -> Node<T>? {
      ((node as Any) as? Node<S>).map { Node<S>.negative($0) as Any } as? Node<T>
    }
    guard let signed = T.self as? any (FixedWidthInteger & SignedInteger & Codable & Sendable).Type
    else { return nil }
    return open(signed)
  }

  private mutating func integerLeaf<T: FixedWidthInteger & Codable & Sendable>(
    _: T.Type
  ) -> Node<T> {
    if random.percent(20) { return constant([0, 1, 2, T.max, T.min]) }
    let leaf: Any
    switch T.self {
    case is Int8.Type:
      leaf = Node<Int8>.piece(.init(name: "small", model: \.small, record: \.small))
    case is Int32.Type:
      leaf = Node<Int32>.piece(.init(name: "middle", model: \.middle, record: \.middle))
    case is UInt8.Type: leaf = Node<UInt8>.piece(.init(name: "byte", model: \.byte, record: \.byte))
    case is UInt64.Type:
      leaf = Node<UInt64>.piece(.init(name: "wide", model: \.wide, record: \.wide))
    default: leaf = intLeaf()
    }
    guard let leaf = leaf as? Node<T> else { preconditionFailure("no leaf of type \(T.self)") }
    return leaf
  }

  private mutating func intLeaf() -> Node<Int> {
    switch random.below(9) {
    case 0:
      return .property(.piece(.init(name: "box", model: \.box, record: \.box)), "width", \.width)
    case 1: return .property(text(), "count", \.count)
    case 2: return .markCount
    case 3: return .coalesced(.maker(Fields.makerRank), constant(Samples.integers))
    case 4 where mayNeedObjects:
      return .piece(.init(name: "doubleSmall", model: \.doubleSmall, record: \.doubleSmall))
    case 5: return .coalesced(maybeNumber(), constant(Samples.integers))
    default: return .piece(.init(name: "number", model: \.number, record: \.number))
    }
  }

  private func ratioLeaf() -> Node<Double> {
    .piece(.init(name: "ratio", model: \.ratio, record: \.ratio))
  }
  private func readingLeaf() -> Node<Double> {
    .piece(.init(name: "reading", model: \.reading, record: \.reading))
  }
  private func shareLeaf() -> Node<Float> {
    .piece(.init(name: "share", model: \.share, record: \.share))
  }

  private mutating func float<T: BinaryFloatingPoint & Codable & Sendable>(
    _ leaf: Node<T>,
    _ values: [T],
    depth: Int
  ) -> Node<T> {
    guard depth > 0 else { return leaf }
    switch random.below(6) {
    case 0: return .arithmetic(leaf, random.pick(NumberOperator.allCases), constant(values))
    case 1: return .division(constant(values), leaf)
    default: return leaf
    }
  }

  // MARK: Comparing with constants

  private mutating func order() -> OrderOperator { random.pick(OrderOperator.allCases) }

  private mutating func constant<T: Codable & Sendable>(_ values: [T]) -> Node<T> {
    var value = random.pick(values)
    // Texts meet those of rows that are no samples either.
    if values.first is String, let text = random.text() as? T { value = text }
    return .constant(value, (value as? String).map { $0.debugDescription } ?? "\(value)")
  }

  private mutating func several<T>(_ values: [T]) -> [T] {
    (0..<random.below(5)).map { _ in random.pick(values) }
  }

  private mutating func compare<T: Comparable & Codable & Sendable>(
    _ node: Node<T>,
    _ values: [T]
  ) -> Node<Bool> {
    let constant = constant(values)
    return switch random.below(8) {
    case 0, 1, 2: .equal(node, true, constant)
    case 3: .equal(constant, false, node)
    case 4: .order(constant, order(), node)
    default: .order(node, order(), constant)
    }
  }

  private mutating func same<T: Equatable & Codable & Sendable>(
    _ node: Node<T>,
    _ values: [T]
  ) -> Node<Bool> { .equal(node, random.percent(70), constant(values)) }

  private mutating func sameOptional<T: Equatable & Codable & Sendable>(
    _ node: Node<T?>,
    _ values: [T]
  ) -> Node<Bool> {
    let value: T? = random.percent(25) ? nil : random.pick(values)
    return .equal(node, random.percent(60), .constant(value, value.map { "\($0)" } ?? "nil"))
  }
}

extension PieceRecord {
  fileprivate var doubleSmall: Int { Int(small) * 2 }
}

/// The attributes of makers and marks.
enum Fields {
  static let ranks = [0, 1, 2, 3, -1]
  static let makerName = Field<Maker, MakerRecord, String>(
    name: "name",
    model: \.name,
    record: \.name
  )
  static let makerRank = Field<Maker, MakerRecord, Int>(name: "rank", model: \.rank, record: \.rank)
  static let makerTone = Field<Maker, MakerRecord, Tone>(
    name: "tone",
    model: \.tone,
    record: \.tone
  )
  static let makerCountry = Field<Maker, MakerRecord, String?>(
    name: "country",
    model: \.country,
    record: \.country
  )
  static let markName = Field<Mark, MarkRecord, String>(name: "name", model: \.name, record: \.name)
  static let markWeight = Field<Mark, MarkRecord, Double>(
    name: "weight",
    model: \.weight,
    record: \.weight
  )
}

/// A sort key, in both worlds.
struct SortKey {
  let swift: String
  let descriptor: SortDescriptor<Piece>
  /// How two records compare: by sign.
  let compare: (PieceRecord, PieceRecord) -> Int

  static func random(_ random: inout Chance) -> SortKey {
    switch random.below(11) {
    case 0: key("number", \.number, \.number, &random)
    case 1: key("name", \.name, \.name, &random)
    case 2: key("ratio", \.ratio, \.ratio, &random)
    case 3: key("made", \.made, \.made, &random)
    case 4: key("wide", \.wide, \.wide, &random)
    case 5: key("small", \.small, \.small, &random)
    case 6: optionalKey("maybeNumber", \.maybeNumber, \.maybeNumber, &random)
    case 7: optionalKey("note", \.note, \.note, &random)
    case 8: optionalKey("seen", \.seen, \.seen, &random)
    case 9: readingKey(&random)
    default: key("token", \.token, \.token, &random)
    }
  }

  /// A key that may be NaN, which comes after all numbers.
  private static func readingKey(_ random: inout Chance) -> SortKey {
    let order = random.percent(60) ? SortOrder.forward : .reverse
    return SortKey(
      swift: "SortDescriptor(\\.reading, order: .\(order))",
      descriptor: SortDescriptor(\Piece.reading, order: order),
      compare: { lhs, rhs in
        let (lhs, rhs) = (lhs.reading, rhs.reading)
        let sign =
          if lhs.isNaN || rhs.isNaN {
            (lhs.isNaN ? 1 : 0) - (rhs.isNaN ? 1 : 0)
          } else {
            lhs < rhs ? -1 : lhs > rhs ? 1 : 0
          }
        return order == .forward ? sign : -sign
      }
    )
  }

  /// How two values compare, by sign.
  private static func sign<T: Comparable>(_ lhs: T, _ rhs: T) -> Int {
    if TextOrder.canonical.precedes(lhs, rhs) { return -1 }
    return TextOrder.canonical.precedes(rhs, lhs) ? 1 : 0
  }

  private static func key<T: Comparable>(
    _ name: String,
    _ model: any KeyPath<Piece, T> & Sendable,
    _ record: KeyPath<PieceRecord, T>,
    _ random: inout Chance
  ) -> SortKey {
    let order = random.percent(60) ? SortOrder.forward : .reverse
    return SortKey(
      swift: "SortDescriptor(\\.\(name), order: .\(order))",
      descriptor: SortDescriptor(model, order: order),
      compare: { lhs, rhs in
        let (lhs, rhs) = (lhs[keyPath: record], rhs[keyPath: record])
        let sign = Self.sign(lhs, rhs)
        return order == .forward ? sign : -sign
      }
    )
  }

  private static func optionalKey<T: Comparable>(
    _ name: String,
    _ model: any KeyPath<Piece, T?> & Sendable,
    _ record: KeyPath<PieceRecord, T?>,
    _ random: inout Chance
  ) -> SortKey {
    let order = random.percent(60) ? SortOrder.forward : .reverse
    return SortKey(
      swift: "SortDescriptor(\\.\(name), order: .\(order))",
      descriptor: SortDescriptor(model, order: order),
      compare: { lhs, rhs in
        let sign =
          switch (lhs[keyPath: record], rhs[keyPath: record]) {
          case (nil, nil): 0
          case (nil, _): -1
          case (_, nil): 1
          case (let lhs?, let rhs?): Self.sign(lhs, rhs)
          }
        return order == .forward ? sign : -sign
      }
    )
  }
}
