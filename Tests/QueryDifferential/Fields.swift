import Foundation
import ModelRuntime

// Where values come from: attributes of a piece, of its maker and of a mark, in both worlds.

/// An attribute, of a model and of its record.
struct Field<Model: PersistentModel, Record, Value>: Sendable {
  let name: String
  let model: any KeyPath<Model, Value> & Sendable
  let record: any KeyPath<Record, Value> & Sendable
}

typealias PieceField<Value> = Field<Piece, PieceRecord, Value>

extension Node {
  static func piece(_ field: PieceField<Output>) -> Node {
    Node(
      swift: "piece.\(field.name)",
      build: { PredicateExpressions.build_KeyPath(root: $0.piece, keyPath: field.model) },
      value: { $0.piece[keyPath: field.record] }
    )
  }

  static func mark(_ field: Field<Mark, MarkRecord, Output>) -> Node {
    Node(
      swift: "mark.\(field.name)",
      build: { variables in
        guard let mark = variables.mark else { preconditionFailure("there is no mark here") }
        return PredicateExpressions.build_KeyPath(root: mark, keyPath: field.model)
      },
      value: { frame in
        guard let mark = frame.mark else { preconditionFailure("there is no mark here") }
        return mark[keyPath: field.record]
      }
    )
  }

  /// A property of a value.
  static func property<Root>(
    _ root: Node<Root>,
    _ name: String,
    _ keyPath: any KeyPath<Root, Output> & Sendable
  ) -> Node {
    Node(
      swift: "\(root.swift).\(name)",
      build: { variables in
        func open(_ root: some StandardPredicateExpression<Root>)
          -> any StandardPredicateExpression<Output>
        {
          PredicateExpressions.build_KeyPath(root: root, keyPath: keyPath)
        }
        return open(root.build(variables))
      },
      value: { try root.value($0)[keyPath: keyPath] },
      simpler: { root.simpler().map { .property($0, name, keyPath) } }
    )
  }

  /// An attribute of the maker, nil without one.
  static func maker<Value>(_ field: Field<Maker, MakerRecord, Value>) -> Node
  where Output == Value? {
    Node(
      swift: "piece.maker?.\(field.name)",
      build: { variables in
        let maker = PredicateExpressions.build_KeyPath(root: variables.piece, keyPath: \Piece.maker)
        return PredicateExpressions.build_flatMap(maker) {
          PredicateExpressions.build_KeyPath(root: $0, keyPath: field.model)
        }
      },
      value: { $0.world.maker(of: $0.piece)?[keyPath: field.record] }
    )
  }

  /// The same of an attribute that is optional itself.
  static func maker<Value>(_ field: Field<Maker, MakerRecord, Value?>) -> Node
  where Output == Value? {
    Node(
      swift: "piece.maker?.\(field.name)",
      build: { variables in
        let maker = PredicateExpressions.build_KeyPath(root: variables.piece, keyPath: \Piece.maker)
        return PredicateExpressions.build_flatMap(maker) {
          PredicateExpressions.build_KeyPath(root: $0, keyPath: field.model)
        }
      },
      value: { $0.world.maker(of: $0.piece).flatMap { $0[keyPath: field.record] } }
    )
  }

  /// A field of a composite that may be nil.
  static func boxField<Value>(
    _ name: String,
    _ keyPath: any KeyPath<Box, Value> & Sendable
  ) -> Node where Output == Value? {
    Node(
      swift: "piece.maybeBox?.\(name)",
      build: { variables in
        let box = PredicateExpressions.build_KeyPath(
          root: variables.piece,
          keyPath: \Piece.maybeBox
        )
        return PredicateExpressions.build_flatMap(box) {
          PredicateExpressions.build_KeyPath(root: $0, keyPath: keyPath)
        }
      },
      value: { $0.piece.maybeBox?[keyPath: keyPath] }
    )
  }
}

extension Node where Output == Int? {
  /// What only a gadget has.
  static var power: Node {
    Node(
      swift: "(piece as? Gadget)?.power",
      build: { variables in
        let gadget = PredicateExpressions.ConditionalCast<
          PredicateExpressions.Variable<Piece>, Gadget
        >(variables.piece)
        return PredicateExpressions.build_flatMap(gadget) {
          PredicateExpressions.build_KeyPath(root: $0, keyPath: \Gadget.power)
        }
      },
      value: { $0.piece.power }
    )
  }
}

extension Node where Output == Bool {
  static var isGadget: Node {
    Node(
      swift: "(piece is Gadget)",
      build: {
        PredicateExpressions.TypeCheck<PredicateExpressions.Variable<Piece>, Gadget>($0.piece)
      },
      value: { $0.piece.power != nil }
    )
  }

  static func hasMaker(_ isNil: Bool) -> Node {
    Node(
      swift: "(piece.maker \(isNil ? "==" : "!=") nil)",
      build: { variables in
        let maker = PredicateExpressions.build_KeyPath(root: variables.piece, keyPath: \Piece.maker)
        let none = PredicateExpressions.build_NilLiteral() as PredicateExpressions.NilLiteral<Maker>
        if isNil { return PredicateExpressions.build_Equal(lhs: maker, rhs: none) }
        return PredicateExpressions.build_NotEqual(lhs: maker, rhs: none)
      },
      value: { ($0.world.maker(of: $0.piece) == nil) == isNil }
    )
  }

  /// Whether the reference that nothing leads back along leads anywhere.
  static func hasFormer(_ isNil: Bool) -> Node {
    Node(
      swift: "(piece.former \(isNil ? "==" : "!=") nil)",
      build: { variables in
        let former = PredicateExpressions.build_KeyPath(
          root: variables.piece,
          keyPath: \Piece.former
        )
        let none = PredicateExpressions.build_NilLiteral() as PredicateExpressions.NilLiteral<Maker>
        if isNil { return PredicateExpressions.build_Equal(lhs: former, rhs: none) }
        return PredicateExpressions.build_NotEqual(lhs: former, rhs: none)
      },
      value: { ($0.world.former(of: $0.piece) == nil) == isNil }
    )
  }

  /// Whether some member of the list that may be nil passes a test.
  static func spares(_ test: Node) -> Node {
    Node(
      swift: "(piece.spares?.contains { mark in \(test.swift) } == true)",
      build: { variables in
        let spares = PredicateExpressions.build_KeyPath(
          root: variables.piece,
          keyPath: \Piece.spares
        )
        func open<Test: StandardPredicateExpression<Bool>>(_: Test)
          -> any StandardPredicateExpression<Bool>
        {
          let found = PredicateExpressions.build_flatMap(spares) { spares in
            PredicateExpressions.build_contains(spares) { mark -> Test in
              var inner = variables
              inner.mark = mark
              guard let test = test.build(inner) as? Test else {
                preconditionFailure("a node is built the same way each time")
              }
              return test
            }
          }
          return PredicateExpressions.build_Equal(
            lhs: found,
            rhs: PredicateExpressions.build_Arg(true as Bool?)
          )
        }
        var probe = variables
        probe.mark = anyVariable()
        return open(test.build(probe))
      },
      value: { frame in
        try frame.world.spares(of: frame.piece).contains { mark in
          var inner = frame
          inner.mark = mark
          return try test.value(inner)
        }
      },
      simpler: { test.simpler().map { .spares($0) } }
    )
  }

  /// Whether some mark, or every mark, of the piece passes a test.
  static func marks(_ test: Node, all: Bool) -> Node {
    Node(
      swift: "piece.marks.\(all ? "allSatisfy" : "contains") { mark in \(test.swift) }",
      build: { variables in
        let marks = PredicateExpressions.build_KeyPath(root: variables.piece, keyPath: \Piece.marks)
        func open<Test: StandardPredicateExpression<Bool>>(_: Test)
          -> any StandardPredicateExpression<Bool>
        {
          func make(_ mark: PredicateExpressions.Variable<Mark>) -> Test {
            var inner = variables
            inner.mark = mark
            guard let test = test.build(inner) as? Test else {
              preconditionFailure("a node is built the same way each time")
            }
            return test
          }
          if all { return PredicateExpressions.build_allSatisfy(marks) { make($0) } }
          return PredicateExpressions.build_contains(marks) { make($0) }
        }
        var probe = variables
        probe.mark = anyVariable()
        return open(test.build(probe))
      },
      value: { frame in
        func passes(_ mark: MarkRecord) throws -> Bool {
          var inner = frame
          inner.mark = mark
          return try test.value(inner)
        }
        let marks = frame.world.marks(of: frame.piece)
        return try all ? marks.allSatisfy(passes) : marks.contains(where: passes)
      },
      simpler: { test.simpler().map { .marks($0, all: all) } }
    )
  }

  /// Whether the maker has a piece that passes a test, which is about that piece.
  static func siblings(_ test: Node) -> Node {
    Node(
      swift: "(piece.maker?.pieces.contains { piece in \(test.swift) } == true)",
      build: { variables in
        let maker = PredicateExpressions.build_KeyPath(root: variables.piece, keyPath: \Piece.maker)
        func open<Test: StandardPredicateExpression<Bool>>(_: Test)
          -> any StandardPredicateExpression<Bool>
        {
          let found = PredicateExpressions.build_flatMap(maker) { maker in
            PredicateExpressions.build_contains(
              PredicateExpressions.build_KeyPath(root: maker, keyPath: \Maker.pieces)
            ) { piece -> Test in
              guard let test = test.build(Variables(piece: piece)) as? Test else {
                preconditionFailure("a node is built the same way each time")
              }
              return test
            }
          }
          return PredicateExpressions.build_Equal(
            lhs: found,
            rhs: PredicateExpressions.build_Arg(true as Bool?)
          )
        }
        return open(test.build(variables))
      },
      value: { frame in
        guard let maker = frame.world.maker(of: frame.piece) else { return false }
        // No order among them: whether one of them has no answer would depend on it, so none may.
        return try frame.world.pieces(of: maker).contains {
          try test.value(Frame(world: frame.world, piece: $0, textOrder: frame.textOrder))
        }
      },
      simpler: { test.simpler().map { .siblings($0) } }
    )
  }
}

extension Node where Output == Int? {
  static var spareCount: Node {
    Node(
      swift: "piece.spares?.count",
      build: { variables in
        PredicateExpressions.build_flatMap(
          PredicateExpressions.build_KeyPath(root: variables.piece, keyPath: \Piece.spares)
        ) { PredicateExpressions.build_KeyPath(root: $0, keyPath: \.count) }
      },
      value: { $0.world.spares(of: $0.piece).count }
    )
  }
}

extension Node where Output == PersistentIdentifier? {
  /// The identifier of the maker, whose identifiers are given by serial number.
  static func makerIdentifier(_ identifiers: [Int: PersistentIdentifier]) -> Node {
    Node(
      swift: "piece.maker?.persistentModelID",
      build: { variables in
        let maker = PredicateExpressions.build_KeyPath(root: variables.piece, keyPath: \Piece.maker)
        return PredicateExpressions.build_flatMap(maker) {
          PredicateExpressions.build_KeyPath(root: $0, keyPath: \Maker.persistentModelID)
        }
      },
      value: { frame in frame.world.maker(of: frame.piece).flatMap { identifiers[$0.serial] } }
    )
  }
}

extension Node where Output == Int {
  static var markCount: Node {
    Node(
      swift: "piece.marks.count",
      build: {
        PredicateExpressions.build_KeyPath(
          root: PredicateExpressions.build_KeyPath(root: $0.piece, keyPath: \Piece.marks),
          keyPath: \.count
        )
      },
      value: { $0.world.marks(of: $0.piece).count }
    )
  }
}

/// A variable of a class, to see what type a closure's test has.
private func anyVariable<Model: PersistentModel>() -> PredicateExpressions.Variable<Model> {
  var found: PredicateExpressions.Variable<Model>?
  _ = Predicate<Model> {
    found = $0
    return PredicateExpressions.build_Arg(true)
  }
  guard let found else { preconditionFailure("a predicate has a variable") }
  return found
}
