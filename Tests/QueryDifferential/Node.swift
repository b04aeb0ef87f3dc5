import Foundation
import ModelRuntime

/// Why an expression has no value: Swift's code would trap, or throw.
struct NoAnswer: Error {}

/// The variables of a predicate's tree that stand for models: the innermost of each class.
struct Variables {
  var piece: PredicateExpressions.Variable<Piece>
  var maker: PredicateExpressions.Variable<Maker>?
  var mark: PredicateExpressions.Variable<Mark>?
}

/// The records that they stand for.
struct Frame {
  let world: World
  var piece: PieceRecord
  var maker: MakerRecord?
  var mark: MarkRecord?
  /// Whether texts are in the order of the library, or in that of Swift's operator.
  var textOrder = TextOrder.canonical
}

/// An order of texts.
enum TextOrder {
  /// By the scalars of composed forms.
  case canonical
  /// As `<` says, which is no order where one text is composed and the other is not.
  case swift

  /// Whether a value comes before another.
  func precedes<T: Comparable>(_ lhs: T, _ rhs: T) -> Bool {
    guard self == .canonical, let left = lhs as? String, let right = rhs as? String else {
      return lhs < rhs
    }
    let (leftForm, rightForm) = (
      left.precomposedStringWithCanonicalMapping, right.precomposedStringWithCanonicalMapping
    )
    return leftForm.utf8.lexicographicallyPrecedes(rightForm.utf8)
  }
}

/// A part of a random predicate: how it is written, how it is built, and what it says of a record.
///
/// The last is the oracle. It is Swift's own operators, called on plain values, and shares nothing with the library.
struct Node<Output> {
  let swift: String
  let build: (Variables) -> any StandardPredicateExpression<Output>
  let value: (Frame) throws -> Output
  /// Simpler nodes, one of which may still show what this one shows.
  var simpler: () -> [Node<Output>] = { [] }
}

extension Node where Output: Codable & Sendable {
  static func constant(_ value: Output, _ swift: String) -> Node {
    Node(swift: swift, build: { _ in PredicateExpressions.build_Arg(value) }, value: { _ in value })
  }
}

// MARK: Logic

extension Node where Output == Bool {
  static func and(_ lhs: Node, _ rhs: Node) -> Node {
    Node(
      swift: "(\(lhs.swift) && \(rhs.swift))",
      build: { variables in
        func open(
          _ lhs: some StandardPredicateExpression<Bool>,
          _ rhs: any StandardPredicateExpression<Bool>
        ) -> any StandardPredicateExpression<Bool> {
          func join(_ rhs: some StandardPredicateExpression<Bool>)
            -> any StandardPredicateExpression<Bool>
          {
            PredicateExpressions.build_Conjunction(lhs: lhs, rhs: rhs)
          }
          return join(rhs)
        }
        return open(lhs.build(variables), rhs.build(variables))
      },
      value: { try lhs.value($0) && rhs.value($0) },
      simpler: {
        [lhs, rhs] + lhs.simpler().map { .and($0, rhs) } + rhs.simpler().map { .and(lhs, $0) }
      }
    )
  }

  static func or(_ lhs: Node, _ rhs: Node) -> Node {
    Node(
      swift: "(\(lhs.swift) || \(rhs.swift))",
      build: { variables in
        func open(
          _ lhs: some StandardPredicateExpression<Bool>,
          _ rhs: any StandardPredicateExpression<Bool>
        ) -> any StandardPredicateExpression<Bool> {
          func join(_ rhs: some StandardPredicateExpression<Bool>)
            -> any StandardPredicateExpression<Bool>
          {
            PredicateExpressions.build_Disjunction(lhs: lhs, rhs: rhs)
          }
          return join(rhs)
        }
        return open(lhs.build(variables), rhs.build(variables))
      },
      value: { try lhs.value($0) || rhs.value($0) },
      simpler: {
        [lhs, rhs] + lhs.simpler().map { .or($0, rhs) } + rhs.simpler().map { .or(lhs, $0) }
      }
    )
  }

  static func not(_ operand: Node) -> Node {
    Node(
      swift: "!\(operand.swift)",
      build: { variables in
        func open(_ operand: some StandardPredicateExpression<Bool>)
          -> any StandardPredicateExpression<Bool>
        {
          PredicateExpressions.build_Negation(operand)
        }
        return open(operand.build(variables))
      },
      value: { try !operand.value($0) },
      simpler: { [operand] + operand.simpler().map { .not($0) } }
    )
  }
}

extension Node {
  static func conditional(_ test: Node<Bool>, _ then: Node, _ otherwise: Node) -> Node {
    Node(
      swift: "(if \(test.swift) { \(then.swift) } else { \(otherwise.swift) })",
      build: { variables in
        func open(
          _ test: some StandardPredicateExpression<Bool>,
          _ then: any StandardPredicateExpression<Output>,
          _ otherwise: any StandardPredicateExpression<Output>
        ) -> any StandardPredicateExpression<Output> {
          func join(
            _ then: some StandardPredicateExpression<Output>,
            _ otherwise: some StandardPredicateExpression<Output>
          ) -> any StandardPredicateExpression<Output> {
            PredicateExpressions.build_Conditional(test, then, otherwise)
          }
          return join(then, otherwise)
        }
        return open(test.build(variables), then.build(variables), otherwise.build(variables))
      },
      value: { try test.value($0) ? then.value($0) : otherwise.value($0) },
      simpler: {
        [then, otherwise] + test.simpler().map { .conditional($0, then, otherwise) }
          + then.simpler().map { .conditional(test, $0, otherwise) }
          + otherwise.simpler().map { .conditional(test, then, $0) }
      }
    )
  }

  static func coalesced(_ optional: Node<Output?>, _ other: Node) -> Node {
    Node(
      swift: "(\(optional.swift) ?? \(other.swift))",
      build: { variables in
        func open(
          _ optional: some StandardPredicateExpression<Output?>,
          _ other: any StandardPredicateExpression<Output>
        ) -> any StandardPredicateExpression<Output> {
          func join(_ other: some StandardPredicateExpression<Output>)
            -> any StandardPredicateExpression<Output>
          {
            PredicateExpressions.build_NilCoalesce(lhs: optional, rhs: other)
          }
          return join(other)
        }
        return open(optional.build(variables), other.build(variables))
      },
      value: { try optional.value($0) ?? other.value($0) },
      simpler: { [other] + other.simpler().map { .coalesced(optional, $0) } }
    )
  }

  static func unwrapped(_ optional: Node<Output?>) -> Node {
    Node(
      swift: "\(optional.swift)!",
      build: { variables in
        func open(_ optional: some StandardPredicateExpression<Output?>)
          -> any StandardPredicateExpression<Output>
        {
          PredicateExpressions.build_ForcedUnwrap(optional)
        }
        return open(optional.build(variables))
      },
      value: {
        guard let value = try optional.value($0) else { throw NoAnswer() }
        return value
      },
      simpler: { optional.simpler().map { .unwrapped($0) } }
    )
  }
}

// MARK: Comparisons

/// One of the operators that order values.
enum OrderOperator: String, CaseIterable {
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="

  var node: PredicateExpressions.ComparisonOperator {
    switch self {
    case .less: .lessThan
    case .lessOrEqual: .lessThanOrEqual
    case .greater: .greaterThan
    case .greaterOrEqual: .greaterThanOrEqual
    }
  }

  func holds<T: Comparable>(_ lhs: T, _ rhs: T, _ order: TextOrder) -> Bool {
    if order == .canonical, T.self == String.self {
      return switch self {
      case .less: order.precedes(lhs, rhs)
      case .lessOrEqual: !order.precedes(rhs, lhs)
      case .greater: order.precedes(rhs, lhs)
      case .greaterOrEqual: !order.precedes(lhs, rhs)
      }
    }
    return switch self {
    case .less: lhs < rhs
    case .lessOrEqual: lhs <= rhs
    case .greater: lhs > rhs
    case .greaterOrEqual: lhs >= rhs
    }
  }
}

extension Node where Output == Bool {
  static func order<T: Comparable>(_ lhs: Node<T>, _ op: OrderOperator, _ rhs: Node<T>) -> Node {
    Node(
      swift: "(\(lhs.swift) \(op.rawValue) \(rhs.swift))",
      build: { variables in
        func open(
          _ lhs: some StandardPredicateExpression<T>,
          _ rhs: any StandardPredicateExpression<T>
        ) -> any StandardPredicateExpression<Bool> {
          func join(_ rhs: some StandardPredicateExpression<T>) -> any StandardPredicateExpression<
            Bool
          > {
            PredicateExpressions.build_Comparison(lhs: lhs, rhs: rhs, op: op.node)
          }
          return join(rhs)
        }
        return open(lhs.build(variables), rhs.build(variables))
      },
      value: { try op.holds(lhs.value($0), rhs.value($0), $0.textOrder) },
      simpler: {
        lhs.simpler().map { .order($0, op, rhs) } + rhs.simpler().map { .order(lhs, op, $0) }
      }
    )
  }

  static func equal<T: Equatable>(_ lhs: Node<T>, _ isEqual: Bool, _ rhs: Node<T>) -> Node {
    Node(
      swift: "(\(lhs.swift) \(isEqual ? "==" : "!=") \(rhs.swift))",
      build: { variables in
        func open(
          _ lhs: some StandardPredicateExpression<T>,
          _ rhs: any StandardPredicateExpression<T>
        ) -> any StandardPredicateExpression<Bool> {
          func join(_ rhs: some StandardPredicateExpression<T>) -> any StandardPredicateExpression<
            Bool
          > {
            if isEqual { return PredicateExpressions.build_Equal(lhs: lhs, rhs: rhs) }
            return PredicateExpressions.build_NotEqual(lhs: lhs, rhs: rhs)
          }
          return join(rhs)
        }
        return open(lhs.build(variables), rhs.build(variables))
      },
      value: { try (lhs.value($0) == rhs.value($0)) == isEqual },
      simpler: {
        lhs.simpler().map { .equal($0, isEqual, rhs) }
          + rhs.simpler().map { .equal(lhs, isEqual, $0) }
      }
    )
  }

  static func contained<T: Hashable & Codable & Sendable>(
    _ node: Node<T>,
    _ values: [T],
    asSet: Bool
  ) -> Node {
    Node(
      swift: "\(values)\(asSet ? " as Set" : "").contains(\(node.swift))",
      build: { variables in
        func open(_ node: some StandardPredicateExpression<T>) -> any StandardPredicateExpression<
          Bool
        > {
          if asSet {
            return PredicateExpressions.build_contains(
              PredicateExpressions.build_Arg(Set(values)),
              node
            )
          }
          return PredicateExpressions.build_contains(PredicateExpressions.build_Arg(values), node)
        }
        return open(node.build(variables))
      },
      value: { try values.contains(node.value($0)) },
      simpler: { node.simpler().map { .contained($0, values, asSet: asSet) } }
    )
  }

  static func within<T: Comparable & Codable & Sendable>(
    _ node: Node<T>,
    _ lower: T,
    _ upper: T
  ) -> Node {
    Node(
      swift: "(\(lower) ..< \(upper)).contains(\(node.swift))",
      build: { variables in
        func open(_ node: some StandardPredicateExpression<T>) -> any StandardPredicateExpression<
          Bool
        > {
          PredicateExpressions.build_contains(PredicateExpressions.build_Arg(lower..<upper), node)
        }
        return open(node.build(variables))
      },
      value: { try (lower..<upper).contains(node.value($0)) },
      simpler: { node.simpler().map { .within($0, lower, upper) } }
    )
  }
}

// MARK: Numbers

/// An operator of numbers.
enum NumberOperator: String, CaseIterable { case add = "+", subtract = "-", multiply = "*" }

extension Node where Output: FixedWidthInteger & Codable & Sendable {
  static func arithmetic(_ lhs: Node, _ op: NumberOperator, _ rhs: Node) -> Node {
    Node(
      swift: "(\(lhs.swift) \(op.rawValue) \(rhs.swift))",
      build: { variables in
        func open(
          _ lhs: some StandardPredicateExpression<Output>,
          _ rhs: any StandardPredicateExpression<Output>
        )
          -> any StandardPredicateExpression<Output>
        {
          func join(_ rhs: some StandardPredicateExpression<Output>)
            -> any StandardPredicateExpression<Output>
          {
            PredicateExpressions.build_Arithmetic(lhs: lhs, rhs: rhs, op: op.node)
          }
          return join(rhs)
        }
        return open(lhs.build(variables), rhs.build(variables))
      },
      value: {
        let (lhs, rhs) = (try lhs.value($0), try rhs.value($0))
        let (result, overflow) =
          switch op {
          case .add: lhs.addingReportingOverflow(rhs)
          case .subtract: lhs.subtractingReportingOverflow(rhs)
          case .multiply: lhs.multipliedReportingOverflow(by: rhs)
          }
        if overflow { throw NoAnswer() }
        return result
      },
      simpler: { [lhs, rhs] }
    )
  }

  static func division(_ lhs: Node, _ rhs: Node, isRemainder: Bool) -> Node {
    Node(
      swift: "(\(lhs.swift) \(isRemainder ? "%" : "/") \(rhs.swift))",
      build: { variables in
        func open(
          _ lhs: some StandardPredicateExpression<Output>,
          _ rhs: any StandardPredicateExpression<Output>
        )
          -> any StandardPredicateExpression<Output>
        {
          func join(_ rhs: some StandardPredicateExpression<Output>)
            -> any StandardPredicateExpression<Output>
          {
            if isRemainder { return PredicateExpressions.build_Remainder(lhs: lhs, rhs: rhs) }
            return PredicateExpressions.build_Division(lhs: lhs, rhs: rhs)
          }
          return join(rhs)
        }
        return open(lhs.build(variables), rhs.build(variables))
      },
      value: {
        let (lhs, rhs) = (try lhs.value($0), try rhs.value($0))
        let (result, overflow) =
          isRemainder
          ? lhs.remainderReportingOverflow(dividingBy: rhs)
          : lhs.dividedReportingOverflow(by: rhs)
        if overflow { throw NoAnswer() }
        return result
      },
      simpler: { [lhs, rhs] }
    )
  }
}

extension Node where Output: FixedWidthInteger & SignedInteger & Codable & Sendable {
  static func negative(_ operand: Node) -> Node {
    Node(
      swift: "(-\(operand.swift))",
      build: { variables in
        func open(_ operand: some StandardPredicateExpression<Output>)
          -> any StandardPredicateExpression<Output>
        {
          PredicateExpressions.build_UnaryMinus(operand)
        }
        return open(operand.build(variables))
      },
      value: {
        let (result, overflow) = try (0 as Output).subtractingReportingOverflow(operand.value($0))
        if overflow { throw NoAnswer() }
        return result
      },
      simpler: { [operand] }
    )
  }
}

extension Node where Output: BinaryFloatingPoint & Codable & Sendable {
  static func arithmetic(_ lhs: Node, _ op: NumberOperator, _ rhs: Node) -> Node {
    Node(
      swift: "(\(lhs.swift) \(op.rawValue) \(rhs.swift))",
      build: { variables in
        func open(
          _ lhs: some StandardPredicateExpression<Output>,
          _ rhs: any StandardPredicateExpression<Output>
        )
          -> any StandardPredicateExpression<Output>
        {
          func join(_ rhs: some StandardPredicateExpression<Output>)
            -> any StandardPredicateExpression<Output>
          {
            PredicateExpressions.build_Arithmetic(lhs: lhs, rhs: rhs, op: op.node)
          }
          return join(rhs)
        }
        return open(lhs.build(variables), rhs.build(variables))
      },
      value: {
        switch op {
        case .add: try lhs.value($0) + rhs.value($0)
        case .subtract: try lhs.value($0) - rhs.value($0)
        case .multiply: try lhs.value($0) * rhs.value($0)
        }
      },
      simpler: { [lhs, rhs] }
    )
  }

  static func division(_ lhs: Node, _ rhs: Node) -> Node {
    Node(
      swift: "(\(lhs.swift) / \(rhs.swift))",
      build: { variables in
        func open(
          _ lhs: some StandardPredicateExpression<Output>,
          _ rhs: any StandardPredicateExpression<Output>
        )
          -> any StandardPredicateExpression<Output>
        {
          func join(_ rhs: some StandardPredicateExpression<Output>)
            -> any StandardPredicateExpression<Output>
          {
            PredicateExpressions.build_Division(lhs: lhs, rhs: rhs)
          }
          return join(rhs)
        }
        return open(lhs.build(variables), rhs.build(variables))
      },
      value: { try lhs.value($0) / rhs.value($0) },
      simpler: { [lhs, rhs] }
    )
  }
}

extension NumberOperator {
  fileprivate var node: PredicateExpressions.ArithmeticOperator {
    switch self {
    case .add: .add
    case .subtract: .subtract
    case .multiply: .multiply
    }
  }
}

// MARK: Text

/// A question about two texts.
enum TextOperator: String, CaseIterable {
  case contains, starts
  case localizedStandardContains
}

extension Node where Output == Bool {
  static func text(_ text: Node<String>, _ op: TextOperator, _ other: Node<String>) -> Node {
    Node(
      swift: "\(text.swift).\(op == .starts ? "starts(with: " : op.rawValue + "(")\(other.swift))",
      build: { variables in
        func open(
          _ text: some StandardPredicateExpression<String>,
          _ other: any StandardPredicateExpression<String>
        )
          -> any StandardPredicateExpression<Bool>
        {
          func join(_ other: some StandardPredicateExpression<String>)
            -> any StandardPredicateExpression<Bool>
          {
            switch op {
            case .contains: PredicateExpressions.build_contains(text, other)
            case .starts: PredicateExpressions.build_starts(text, with: other)
            case .localizedStandardContains:
              PredicateExpressions.build_localizedStandardContains(text, other)
            }
          }
          return join(other)
        }
        return open(text.build(variables), other.build(variables))
      },
      value: {
        let (text, other) = (try text.value($0), try other.value($0))
        return switch op {
        case .contains: Array(text).contains(Array(other))
        case .starts: Array(text).starts(with: Array(other))
        case .localizedStandardContains: text.localizedStandardContains(other)
        }
      },
      simpler: {
        text.simpler().map { .text($0, op, other) } + other.simpler().map { .text(text, op, $0) }
      }
    )
  }
}
