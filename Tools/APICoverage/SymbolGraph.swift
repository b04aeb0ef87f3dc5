/// The fields that we read of a module's symbol graph, in the form that `swift symbolgraph-extract` writes.
struct SymbolGraph: Decodable {
  var symbols: [Symbol]
  var relationships: [Relationship]

  struct Symbol: Decodable {
    struct Identifier: Decodable { var precise: String }
    struct Fragment: Decodable { var spelling: String }

    var identifier: Identifier
    var pathComponents: [String]
    var accessLevel: String
    var declarationFragments: [Fragment]?
  }

  struct Relationship: Decodable {
    var kind: String
    var source: String
    var target: String
    /// The target's name, if it is another module's.
    var targetFallback: String?
  }
}

/// The public declarations of several modules, by the type they are members of.
struct PublicSymbols {
  /// By the type's name; "" holds the top level.
  private(set) var members: [String: [Declaration]] = [:]
  private(set) var conformances: [String: Set<String>] = [:]
  /// The types' names by the compiler's.
  private var names: [String: String] = [:]

  init(_ graphs: [SymbolGraph]) {
    for graph in graphs { addMembers(of: graph) }
    // An extension's graph names types of other graphs.
    for graph in graphs { addConformances(of: graph) }
  }

  private mutating func addMembers(of graph: SymbolGraph) {
    for symbol in graph.symbols where ["public", "open"].contains(symbol.accessLevel) {
      let path = symbol.pathComponents
      names[symbol.identifier.precise] = path.joined(separator: ".")
      let text = (symbol.declarationFragments ?? []).map(\.spelling).joined()
      guard let declaration = Declaration(text) else { continue }
      members[path.dropLast().joined(separator: "."), default: []].append(declaration)
      if text.contains("AnyObject") {
        conformances[path.joined(separator: "."), default: []].insert("AnyObject")
      }
    }
  }

  private mutating func addConformances(of graph: SymbolGraph) {
    for relationship in graph.relationships
    where ["conformsTo", "inheritsFrom"].contains(relationship.kind) {
      let target = names[relationship.target] ?? relationship.targetFallback ?? ""
      guard let source = names[relationship.source], let name = target.split(separator: ".").last
      else { continue }
      conformances[source, default: []].insert(String(name))
    }
  }

  /// Whether a type is declared that conforms to all of these.
  func hasType(_ name: String, conformingTo protocols: Set<String>) -> Bool {
    let components = name.split(separator: ".")
    let siblings = members[components.dropLast().joined(separator: ".")] ?? []
    guard siblings.contains(where: { $0.name == components.last ?? "" && $0.parameters == nil })
    else { return false }
    return missingConformances(of: name, among: protocols).isEmpty
  }

  /// The protocols that a type does not conform to, of those given.
  func missingConformances(of name: String, among protocols: Set<String>) -> Set<String> {
    var asked = protocols
    if asked.remove("Codable") != nil { asked.formUnion(["Encodable", "Decodable"]) }
    return asked.subtracting(conformances[name] ?? [])
  }
}
