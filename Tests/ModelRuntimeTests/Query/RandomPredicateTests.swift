import Foundation
import Testing

@testable import ModelRuntime

/// Makes predicates at random, out of the nodes that `#Predicate` makes.
struct PredicateGenerator {
  typealias Item = ModelRuntimeTests.Item
  typealias Test = any StandardPredicateExpression<Bool>
  typealias Row = PredicateExpressions.Variable<Item>
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func predicate() -> Predicate<Item> {
    let shape = random.next()
    return Predicate<Item> { row in
      var generator = PredicateGenerator(seed: shape)
      return generator.test(row, depth: 3)
    }
  }

  /// A test of a row: a comparison, or a combination of tests.
  private mutating func test(_ row: Row, depth: Int) -> Test {
    if depth > 0 {
      switch random.next() % 8 {
      case 0, 1: return both(test(row, depth: depth - 1), test(row, depth: depth - 1))
      case 2, 3: return either(test(row, depth: depth - 1), test(row, depth: depth - 1))
      case 4: return not(test(row, depth: depth - 1))
      case 5:
        return conditional(
          test(row, depth: depth - 1),
          test(row, depth: depth - 1),
          test(row, depth: depth - 1)
        )
      default: break
      }
    }
    return comparison(row)
  }

  private mutating func comparison(_ row: Row) -> Test {
    switch random.next() % 16 {
    case 0: compare(row, \.number, Samples.integers)
    case 1: compare(row, \.small, Samples.smalls)
    case 2: compare(row, \.byte, Samples.bytes)
    case 3: compare(row, \.wide, Samples.wides)
    case 4: compare(row, \.ratio, Samples.doubles)
    case 5: compare(row, \.share, Samples.floats)
    case 6: compare(row, \.due, Samples.dates)
    case 7: compare(row, \.token, Samples.uuids)
    case 8: compare(row, \.title, Samples.texts)
    case 9: equal(row, \.count, Samples.integers)
    case 10: equal(row, \.score, Samples.doubles)
    case 11: equal(row, \.note, Samples.texts)
    case 12: equal(row, \.rank, Priority.allCases)
    case 13: coalesced(row, \.seen, Samples.dates)
    case 14: coalesced(row, \.note, Samples.texts)
    default: folder(row)
    }
  }

  // MARK: Nodes

  private func both(_ lhs: some StandardPredicateExpression<Bool>, _ rhs: Test) -> Test {
    func join(_ rhs: some StandardPredicateExpression<Bool>) -> Test {
      PredicateExpressions.build_Conjunction(lhs: lhs, rhs: rhs)
    }
    return join(rhs)
  }

  private func either(_ lhs: some StandardPredicateExpression<Bool>, _ rhs: Test) -> Test {
    func join(_ rhs: some StandardPredicateExpression<Bool>) -> Test {
      PredicateExpressions.build_Disjunction(lhs: lhs, rhs: rhs)
    }
    return join(rhs)
  }

  private func not(_ operand: some StandardPredicateExpression<Bool>) -> Test {
    PredicateExpressions.build_Negation(operand)
  }

  private func conditional(
    _ test: some StandardPredicateExpression<Bool>,
    _ then: Test,
    _ otherwise: Test
  ) -> Test {
    func join(
      _ then: some StandardPredicateExpression<Bool>,
      _ otherwise: some StandardPredicateExpression<Bool>
    ) -> Test {
      PredicateExpressions.build_Conditional(test, then, otherwise)
    }
    return join(then, otherwise)
  }

  private mutating func compare<Value: Comparable & Codable & Sendable>(
    _ row: Row,
    _ keyPath: any KeyPath<Item, Value> & Sendable,
    _ values: [Value]
  ) -> Test {
    order(PredicateExpressions.build_KeyPath(root: row, keyPath: keyPath), random.pick(values))
  }

  private mutating func coalesced<Value: Comparable & Codable & Sendable>(
    _ row: Row,
    _ keyPath: any KeyPath<Item, Value?> & Sendable,
    _ values: [Value]
  ) -> Test {
    let value = PredicateExpressions.build_NilCoalesce(
      lhs: PredicateExpressions.build_KeyPath(root: row, keyPath: keyPath),
      rhs: PredicateExpressions.build_Arg(random.pick(values))
    )
    return order(value, random.pick(values))
  }

  /// One of the six comparisons of a value with a constant, on either side.
  private mutating func order<Value: Comparable & Codable & Sendable>(
    _ value: some StandardPredicateExpression<Value>,
    _ constant: Value
  ) -> Test {
    let constant = PredicateExpressions.build_Arg(constant)
    let isMirrored = random.next() % 2 == 0
    switch random.next() % 6 {
    case 0: return PredicateExpressions.build_Equal(lhs: value, rhs: constant)
    case 1: return PredicateExpressions.build_NotEqual(lhs: constant, rhs: value)
    default:
      let operators: [PredicateExpressions.ComparisonOperator] = [
        .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
      ]
      let op = random.pick(operators)
      if isMirrored {
        return PredicateExpressions.build_Comparison(lhs: constant, rhs: value, op: op)
      }
      return PredicateExpressions.build_Comparison(lhs: value, rhs: constant, op: op)
    }
  }

  /// Whether an optional is some constant, or nil.
  private mutating func equal<Value: Equatable & Codable & Sendable>(
    _ row: Row,
    _ keyPath: any KeyPath<Item, Value?> & Sendable,
    _ values: [Value]
  ) -> Test {
    let value = PredicateExpressions.build_KeyPath(root: row, keyPath: keyPath)
    let constant: Value? = random.next() % 4 == 0 ? nil : random.pick(values)
    if random.next() % 2 == 0 {
      return PredicateExpressions.build_Equal(
        lhs: value,
        rhs: PredicateExpressions.build_Arg(constant)
      )
    }
    return PredicateExpressions.build_NotEqual(
      lhs: PredicateExpressions.build_Arg(constant),
      rhs: value
    )
  }

  /// A test of the item's folder, or whether it has one.
  private mutating func folder(_ row: Row) -> Test {
    let folder = PredicateExpressions.build_KeyPath(root: row, keyPath: \Item.folder)
    let size = PredicateExpressions.build_flatMap(folder) {
      PredicateExpressions.build_KeyPath(root: $0, keyPath: \Folder.size)
    }
    let limit = random.pick([0, 2, 3, 5])
    if random.next() % 2 == 0 {
      return PredicateExpressions.build_Equal(
        lhs: size,
        rhs: PredicateExpressions.build_Arg(limit as Int?)
      )
    }
    return order(
      PredicateExpressions.build_NilCoalesce(lhs: size, rhs: PredicateExpressions.build_Arg(-1)),
      limit
    )
  }
}

@Suite struct `Predicates made at random` {
  @Test(arguments: 0..<12)
  func `say of rows what they say of objects`(seed: Int) throws {
    let world = try RandomItems(count: 40, seed: UInt64(seed))
    var generator = PredicateGenerator(seed: UInt64(seed) &* 7919)
    for _ in 0..<25 { try expectAgreement(generator.predicate(), in: world) }
  }
}
