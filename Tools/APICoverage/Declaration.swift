/// A declaration as its callers see it.
///
/// Attributes, modifiers such as `final`, inner names of parameters and values of defaults are left
/// out; a stored property is one that can be read and written, a constant one that can be read.
struct Declaration: Hashable {
  /// The keyword: `func`, `var`, `init`, `case`, `struct`.
  var kind: String
  var isStatic = false
  /// With the `?` of a failable initializer.
  var name: String
  var parameters: [Parameter]?
  var effects: Set<String> = []
  /// The type of a property, the result of a function, or the type of an alias.
  var type = ""
  var isSettable = false
  /// The constraints on generic parameters, each as text, in any order.
  var constraints: Set<String> = []

  struct Parameter: Hashable {
    var label: String
    var type: String
    var hasDefault: Bool
  }
}

// MARK: Reading

extension Declaration {
  private static let kinds: Set<String> = [
    "macro", "func", "init", "var", "let", "case", "subscript", "associatedtype", "typealias",
    "protocol", "class", "struct", "enum", "actor",
  ]

  /// Reads a declaration; `nil` if the text is none.
  init?(_ text: String) {
    var tokens = Tokens(text)
    guard let (kind, isStatic) = Declaration.readKind(&tokens) else { return nil }
    self.kind = kind == "let" ? "var" : kind
    self.isStatic = isStatic
    name = Declaration.readName(kind, &tokens)
    if let generics = tokens.takeBracketed("<", ">") {
      for part in generics.parts { addConstraint(part) }
    }
    switch kind {
    case "associatedtype", "protocol", "class", "struct", "enum", "actor": return
    case "typealias":
      _ = tokens.take("=")
      type = tokens.typeText
      return
    default: break
    }
    if let list = tokens.takeBracketed("(", ")") {
      // An operator's operands have no labels, a subscript's only those that are given apart.
      let isOperator = kind == "func" && name.first?.isWordPart == false
      parameters = list.parts.map {
        Parameter($0, hasLabel: isOperator ? .never : kind == "subscript" ? .ifNamedTwice : .always)
      }
    }
    for effect in ["async", "throws", "rethrows"] where tokens.take(effect) {
      effects.insert(effect == "rethrows" ? "throws" : effect)
    }
    if tokens.take("->") || tokens.take(":") {
      type = tokens.takeUpTo(["where", "{", "="]).typeText
    }
    if tokens.take("=") { _ = tokens.takeUpTo(["where", "{"]) }
    if tokens.take("where") {
      for part in tokens.takeUpTo(["{"]).parts { addConstraint(part) }
    }
    let accessors = tokens.takeBracketed("{", "}")
    isSettable =
      kind == "var" && (accessors == nil || accessors?.list.contains("set") == true)
  }

  private static func readKind(_ tokens: inout Tokens) -> (kind: String, isStatic: Bool)? {
    var isStatic = false
    while let token = tokens.next() {
      if token == "@" {
        _ = tokens.next()
        _ = tokens.takeBracketed("(", ")")
      } else if token == "static" {
        isStatic = true
      } else if token == "class", ["var", "func"].contains(tokens.first ?? "") {
        isStatic = true
      } else if kinds.contains(token) {
        return (token, isStatic)
      }
    }
    return nil
  }

  private static func readName(_ kind: String, _ tokens: inout Tokens) -> String {
    switch kind {
    case "init": return tokens.take("?") ? "init?" : "init"
    case "subscript": return "subscript"
    default:
      let first = tokens.next() ?? ""
      // The name of a nested type in the ledger.
      var name = first
      while tokens.take(".") { name += "." + (tokens.next() ?? "") }
      return name
    }
  }

  private mutating func addConstraint(_ part: Tokens) {
    var part = part
    let subject = part.takeUpTo([":", "=="])
    let relation = part.next()
    guard let relation else { return }
    constraints.insert("\(subject.typeText) \(relation) \(part.typeText)")
  }
}

extension Declaration.Parameter {
  fileprivate enum LabelRule { case always, ifNamedTwice, never }

  fileprivate init(_ tokens: Tokens, hasLabel rule: LabelRule) {
    var tokens = tokens
    var names = tokens.takeUpTo([":"])
    guard tokens.take(":") else {
      // The value of an enumeration's case, without a label.
      label = "_"
      var type = names
      self.type = type.takeUpTo(["="]).typeText
      hasDefault = false
      return
    }
    let isNamedTwice = names.list.count > 1
    label = names.next() ?? "_"
    if rule == .never || rule == .ifNamedTwice && !isNamedTwice { label = "_" }
    var type = tokens.takeUpTo(["="])
    _ = type.take("__owned")
    self.type = type.typeText
    hasDefault = tokens.take("=")
  }
}

// MARK: Comparing

extension Declaration {
  /// Whether a use of `other` compiles with this declaration in its place.
  func fits(_ other: Declaration) -> Bool {
    kind == other.kind && isStatic == other.isStatic && name == other.name && type == other.type
      && effects == other.effects && constraints == other.constraints
      && (isSettable || !other.isSettable) && parametersFit(other)
  }

  private func parametersFit(_ other: Declaration) -> Bool {
    guard let parameters, let others = other.parameters else {
      return (parameters ?? []).isEmpty && (other.parameters ?? []).isEmpty
    }
    return parameters.count == others.count
      && zip(parameters, others).allSatisfy { mine, theirs in
        mine.label == theirs.label && mine.type == theirs.type
          && (mine.hasDefault || !theirs.hasDefault)
      }
  }
}
