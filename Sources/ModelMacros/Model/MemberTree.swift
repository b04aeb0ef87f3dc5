import SwiftSyntax

/// The persisted properties of a class in order, with the `#if` blocks they are in.
///
/// What is generated from them repeats the blocks: a macro cannot know which conditions hold.
struct MemberTree {
  indirect enum Node {
    case property(PersistedProperty, place: Int)
    case conditional([Clause])
  }

  struct Clause {
    /// `#if DEBUG`, `#elseif os(Linux)`, `#else`.
    let directive: String
    let members: MemberTree
  }

  private(set) var nodes: [Node] = []

  init(_ members: MemberBlockItemListSyntax) {
    var count = 0
    self.init(members, counting: &count)
  }

  private init(_ members: MemberBlockItemListSyntax, counting count: inout Int) {
    for member in members {
      if let variable = member.decl.as(VariableDeclSyntax.self) {
        guard let property = PersistedProperty(variable) else { continue }
        nodes.append(.property(property, place: count))
        count += 1
      } else if let block = member.decl.as(IfConfigDeclSyntax.self) {
        var clauses: [Clause] = []
        for clause in block.clauses {
          guard case .decls(let declarations) = clause.elements else { continue }
          let condition = clause.condition.map { " \($0.trimmedDescription)" } ?? ""
          let tree = MemberTree(declarations, counting: &count)
          clauses.append(
            Clause(directive: clause.poundKeyword.trimmedDescription + condition, members: tree)
          )
        }
        if clauses.contains(where: { !$0.members.nodes.isEmpty }) {
          nodes.append(.conditional(clauses))
        }
      }
    }
  }

  var isConditional: Bool {
    nodes.contains { if case .conditional = $0 { true } else { false } }
  }

  /// The properties of all clauses, whether their conditions hold or not.
  var properties: [(property: PersistedProperty, place: Int)] {
    nodes.flatMap { node in
      switch node {
      case .property(let property, let place): [(property, place)]
      case .conditional(let clauses): clauses.flatMap(\.members.properties)
      }
    }
  }

  /// One statement for each property, in order, each in its `#if`.
  func statements(_ statement: (PersistedProperty, Int) -> String) -> [String] {
    nodes.flatMap { node in
      switch node {
      case .property(let property, let place): [statement(property, place)]
      case .conditional(let clauses):
        clauses.flatMap { [$0.directive] + $0.members.statements(statement) } + ["#endif"]
      }
    }
  }

  /// Statements that take the properties whose conditions do not hold out of a running number.
  ///
  /// - Parameter skip: The statement that leaves out the property at a place.
  /// - Returns: The statements, in the `#if` blocks of the properties.
  func skippingStatements(_ skip: (Int) -> String) -> [String] {
    nodes.flatMap { node -> [String] in
      guard case .conditional(let clauses) = node else { return [] }
      var lines: [String] = []
      for (index, clause) in clauses.enumerated() {
        lines.append(clause.directive)
        for (other, rival) in clauses.enumerated() where other != index {
          lines += rival.members.properties.map { skip($0.place) }
        }
        lines += clause.members.skippingStatements(skip)
      }
      if let last = clauses.last, last.directive != "#else" {
        lines.append("#else")
        lines += clauses.flatMap { $0.members.properties.map { skip($0.place) } }
      }
      return lines + ["#endif"]
    }
  }
}
