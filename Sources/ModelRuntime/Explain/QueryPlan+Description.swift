import Foundation

extension QueryPlan: CustomStringConvertible {
  /// The question in one line, then the work, a line for each table and for the context.
  public var description: String {
    var lines = [headline]
    for access in accesses { lines.append(line(access.entity, access.description)) }
    if accesses.isEmpty {
      lines.append(line("store", "\(store) answered\(handedOver)"))
    }
    let work = contextWork
    if !work.isEmpty { lines.append(line("context", work)) }
    let times = steps.map { "\($0.kind.rawValue) \($0.duration.milliseconds)" }
    lines.append(
      line("time", (times + ["\(duration.milliseconds) in all"]).joined(separator: ", "))
    )
    if let resultCount { lines.append(line("result", resultCount.grouped)) }
    return lines.joined(separator: "\n")
  }

  /// The question, as a sentence.
  public var headline: String {
    var text = "\(question.rawValue) \(entity)"
    if let predicate { text += " where \(predicate)" }
    if !sort.isEmpty { text += ", sorted by \(sort.joined(separator: ", "))" }
    if let limit { text += ", limit \(limit.grouped)" }
    if let offset { text += ", offset \(offset.grouped)" }
    return text
  }

  private var handedOver: String {
    handedOverCount.map { " with \($0.counted("model"))" } ?? ""
  }

  private var contextWork: String {
    var parts: [String] = []
    if filteredBy == .context { parts.append("tested the predicate on objects") }
    if sortedBy == .context { parts.append("sorted objects") }
    if objectCount > 0 { parts.append("made \(objectCount.counted("object"))") }
    return parts.joined(separator: ", ")
  }

  private func line(_ name: String, _ text: String) -> String {
    "  \(name.padding(toLength: max(11, name.count), withPad: " ", startingAt: 0)) \(text)"
  }
}

extension QueryPlan.TableAccess: CustomStringConvertible {
  public var description: String {
    var parts: [String] = []
    if let candidateCount {
      parts.append("\(path.description): \(candidateCount.grouped) of \(rowCount.counted("row"))")
    } else if path == .rowCount || path == .nothing {
      parts.append(path.description)
    } else {
      parts.append("\(path.description): \(rowCount.counted("row"))")
    }
    if columnRowCount > 0 || blockCount > 0 || prunedBlockCount > 0 {
      var text = "columns of \(columnRowCount.counted("row"))"
      if blockCount + prunedBlockCount > 0 {
        text += " in \(blockCount.counted("block")) (\(columnByteCount.bytes))"
        text += ", \(prunedBlockCount.grouped) pruned"
      }
      parts.append(text)
    }
    if readRowCount > 0 {
      parts.append("read \(readRowCount.counted("row")) (\(readRowByteCount.bytes))")
    }
    if path != .nothing { parts.append("\(matchCount.grouped) matched") }
    return parts.joined(separator: "; ")
  }
}

extension QueryPlan.TableAccess.Path: CustomStringConvertible {
  public var description: String {
    switch self {
    case .identifiers: "by identifier"
    case .references(let name): "index of references, \(name)"
    case .members(let name): "members of \(name)"
    case .index(let names): "index of \(names.joined(separator: ", "))"
    case .either(let paths): paths.map(\.description).joined(separator: ", or ")
    case .indexOrder(let names): "in the order of the index of \(names.joined(separator: ", "))"
    case .words(let names): "words of \(names.joined(separator: ", "))"
    case .columns(let names):
      names.isEmpty ? "columns" : "columns \(names.joined(separator: ", "))"
    case .firstByColumns(let names): "first by columns \(names.joined(separator: ", "))"
    case .scan: "each row"
    case .server: "found by the server"
    case .serverThenRows: "found by the server for a part of the predicate"
    case .rowCount: "the table's own count"
    case .nothing: "not read, no row can match"
    }
  }
}

extension Int {
  /// Grouped by commas every three digits.
  fileprivate var grouped: String {
    let digits = String(magnitude)
    var text = ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place) % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return self < 0 ? "-" + text : text
  }

  fileprivate func counted(_ noun: String) -> String {
    "\(grouped) \(noun)\(self == 1 ? "" : "s")"
  }

  fileprivate var bytes: String {
    switch self {
    case ..<1000: "\(self) B"
    case ..<1_000_000: "\(tenths(of: 1000)) kB"
    case ..<1_000_000_000: "\(tenths(of: 1_000_000)) MB"
    default: "\(tenths(of: 1_000_000_000)) GB"
    }
  }

  private func tenths(of unit: Int) -> String { "\(self / unit).\(self % unit * 10 / unit)" }
}

extension Duration {
  /// In milliseconds, with two decimals.
  fileprivate var milliseconds: String {
    let (seconds, attoseconds) = components
    let hundredths = seconds * 100_000 + attoseconds / 10_000_000_000_000
    let rest = hundredths % 100
    return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) ms"
  }
}
