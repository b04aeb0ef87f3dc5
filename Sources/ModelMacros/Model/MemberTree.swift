import SwiftSyntax

/// Members of a class in order, with the `#if` blocks they are in: its persisted properties, or its constraints.
///
/// The generated code repeats the blocks: a macro cannot know which conditions hold.
struct MemberTree<Member> {
  indirect enum Node {
    case member(Member, place: Int)
    case conditional([Clause])
  }

  struct Clause {
    /// `#if DEBUG`, `#elseif os(Linux)`, `#else`.
    let directive: String
    let members: MemberTree
  }

  private(set) var nodes: [Node] = []

  /// Reads the members of a class.
  ///
  /// - Parameters:
  ///   - members: The members of the class.
  ///   - read: Converts a declaration, or returns `nil` if it is not of the wanted kind.
  init(_ members: MemberBlockItemListSyntax, _ read: (DeclSyntax) -> Member?) {
    var count = 0
    self.init(members, counting: &count, read)
  }

  private init(
    _ members: MemberBlockItemListSyntax,
    counting count: inout Int,
    _ read: (DeclSyntax) -> Member?
  ) {
    for member in members {
      if let found = read(member.decl) {
        nodes.append(.member(found, place: count))
        count += 1
      } else if let block = member.decl.as(IfConfigDeclSyntax.self) {
        var clauses: [Clause] = []
        for clause in block.clauses {
          guard case .decls(let declarations) = clause.elements else { continue }
          let condition = clause.condition.map { " \($0.trimmedDescription)" } ?? ""
          let tree = MemberTree(declarations, counting: &count, read)
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

  /// The members of all clauses, whether their conditions hold or not.
  fileprivate var all: [(member: Member, place: Int)] {
    nodes.flatMap { node in
      switch node {
      case .member(let member, let place): [(member, place)]
      case .conditional(let clauses): clauses.flatMap(\.members.all)
      }
    }
  }

  /// One statement for each member, in order, each in its `#if`.
  func statements(_ statement: (Member, Int) -> String) -> [String] {
    nodes.flatMap { node in
      switch node {
      case .member(let member, let place): [statement(member, place)]
      case .conditional(let clauses):
        clauses.flatMap { [$0.directive] + $0.members.statements(statement) } + ["#endif"]
      }
    }
  }

}

extension MemberTree<PersistedProperty> {
  /// Reads the persisted properties of a class.
  init(_ members: MemberBlockItemListSyntax) {
    self.init(members) { $0.as(VariableDeclSyntax.self).flatMap(PersistedProperty.init) }
  }

  /// The properties of all clauses, whether their conditions hold or not.
  var properties: [(property: PersistedProperty, place: Int)] {
    all.map { ($0.member, $0.place) }
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
