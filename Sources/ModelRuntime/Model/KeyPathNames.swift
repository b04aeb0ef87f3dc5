/// The names of properties for key paths in messages.
///
/// Swift prints a step through a model's property as `<computed 0x000055d0c3a1f2b0 (Address)>`, since the property has an accessor;
/// the address is that of the accessor, so the key path of the property itself is printed with the same one.
struct KeyPathNames {
  private var names: [Substring: String] = [:]

  /// The properties of a class, and of those that its relationships lead to.
  init(from descriptor: ModelDescriptor) {
    var seen: Set<ObjectIdentifier> = []
    var pending = [descriptor]
    while let next = pending.popLast() {
      guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
      for property in next.properties {
        let text = "\(property.keyPath)"
        if let step = Self.firstStep(in: text[...]) { names[text[step]] = property.name }
        if let destination = property.destination { pending.append(.of(destination)) }
      }
      if let superclass = next.superclass { pending.append(superclass) }
    }
  }

  private init() {}

  /// Replaces the steps in a text by the names of their properties, or by their types where they are not known.
  func replacingSteps(in text: String) -> String {
    var result = ""
    var rest = text[...]
    while let step = Self.firstStep(in: rest) {
      result += rest[..<step.lowerBound]
      result += names[rest[step]] ?? "<\(Self.type(of: rest[step]))>"
      rest = rest[step.upperBound...]
    }
    return result + rest
  }

  /// A key path with types for its computed steps: for messages that no schema is at hand for.
  static func withoutAddresses(_ keyPath: AnyKeyPath) -> String {
    KeyPathNames().replacingSteps(in: "\(keyPath)")
  }

  private static let start = "<computed 0x"

  /// The first step through an accessor: `<computed 0x… (Type)>`.
  private static func firstStep(in text: Substring) -> Range<Substring.Index>? {
    guard let start = text.firstRange(of: start)?.lowerBound,
      let parenthesis = text[start...].firstIndex(of: "(")
    else { return nil }
    var depth = 0
    var place = parenthesis
    while place < text.endIndex {
      if text[place] == "(" { depth += 1 }
      if text[place] == ")" { depth -= 1 }
      place = text.index(after: place)
      if depth == 0 { break }
    }
    guard place < text.endIndex, text[place] == ">" else { return nil }
    return start..<text.index(after: place)
  }

  private static func type(of step: Substring) -> Substring {
    guard let parenthesis = step.firstIndex(of: "(") else { return step }
    return step[step.index(after: parenthesis)...].dropLast(2)
  }
}

extension ModelDescriptor {
  /// A key path of the class with the names of properties, for messages.
  func words(for keyPath: AnyKeyPath) -> String {
    KeyPathNames(from: self).replacingSteps(in: "\(keyPath)")
  }
}
