/// The presence of a ledger's declarations.
struct CoverageReport {
  private(set) var lines: [Line] = []

  struct Line {
    var entry: Ledger.Entry
    var finding: Finding
  }

  enum Finding: String, CaseIterable {
    case present
    case absent = "absent by intent"
    case later
    case missing
    /// Declared absent or later in the ledger, though it is present.
    case outdated = "there, though the ledger says otherwise"
  }

  init(comparing ledger: Ledger, with symbols: PublicSymbols) {
    lines = ledger.entries.map { Line(entry: $0, finding: Self.find($0, symbols)) }
  }

  private static func find(_ entry: Ledger.Entry, _ symbols: PublicSymbols) -> Finding {
    switch entry.status {
    case .expected: isThere(entry, entry.declaration, symbols) ? .present : .missing
    case .spelled(let other): isThere(entry, other, symbols) ? .present : .missing
    case .absent: isThere(entry, entry.declaration, symbols) ? .outdated : .absent
    case .later: isThere(entry, entry.declaration, symbols) ? .outdated : .later
    }
  }

  private static func isThere(
    _ entry: Ledger.Entry,
    _ declaration: Declaration,
    _ symbols: PublicSymbols
  ) -> Bool {
    if ["class", "struct", "enum", "protocol", "actor"].contains(declaration.kind) {
      return symbols.hasType(declaration.name, conformingTo: entry.conformances)
    }
    return (symbols.members[entry.parent ?? ""] ?? []).contains { $0.fits(declaration) }
  }

  func count(_ finding: Finding) -> Int { lines.count { $0.finding == finding } }

  var hasProblems: Bool { count(.missing) + count(.outdated) > 0 }
}

// MARK: Printing

extension CoverageReport {
  /// The report; its last line is the sum.
  func text(all: Bool) -> String {
    var text = ""
    for finding in Finding.allCases where all || finding != .present {
      let some = lines.filter { $0.finding == finding }
      if some.isEmpty { continue }
      text += "\(finding.rawValue):\n"
      for line in some { text += "  \(line.text)\n" }
    }
    return text
      + "\(count(.present)) present, \(count(.absent)) absent by intent, \(count(.later)) later, "
      + "\(count(.missing) + count(.outdated)) missing"
  }
}

extension CoverageReport.Line {
  fileprivate var text: String {
    let place = entry.parent.map { "\($0): " } ?? ""
    return switch entry.status {
    case .expected, .spelled: place + entry.text
    case .absent(let reason): "\(place)\(entry.text)\n    \(reason)"
    case .later(let feature): "\(place)\(entry.text)  (\(feature))"
    }
  }
}
