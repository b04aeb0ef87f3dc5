import SwiftSyntax

extension VariableDeclSyntax {
  /// Whether every instance has storage for the property: it is neither static nor computed.
  var isStoredInInstances: Bool {
    let isOfType = modifiers.contains {
      [.keyword(.static), .keyword(.class)].contains($0.name.tokenKind)
    }
    return !isOfType && !bindings.contains { $0.accessorBlock?.isComputed ?? false }
  }

  /// The attribute of that name, whichever module it is qualified with.
  func attribute(named name: String) -> AttributeSyntax? {
    for case .attribute(let attribute) in attributes where attribute.baseName == name {
      return attribute
    }
    return nil
  }
}

extension AttributeSyntax {
  /// The last part of the attribute's name: `Model` of `@SwiftData.Model`.
  var baseName: String {
    if let member = attributeName.as(MemberTypeSyntax.self) { return member.name.text }
    return attributeName.as(IdentifierTypeSyntax.self)?.name.text
      ?? attributeName.trimmedDescription
  }
}

extension AccessorBlockSyntax {
  /// Whether the accessors compute a value, instead of observing a stored one.
  var isComputed: Bool {
    guard case .accessors(let list) = accessors else { return true }
    return !list.contains { $0.isObserver }
  }
}

extension AccessorDeclSyntax {
  var isObserver: Bool {
    [.keyword(.willSet), .keyword(.didSet)].contains(accessorSpecifier.tokenKind)
  }
}
