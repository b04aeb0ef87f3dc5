// swift-format-ignore-file: NeverForceUnwrap
import Foundation
import ModelRuntime
import SwiftData

@testable import LogStore

extension SeededRandom {
  typealias Item = Goods.Item

  /// A predicate as people write them.
  mutating func predicate() -> Predicate<Item> {
    switch next(below: 5) {
    case 0: pick(integerPredicates())
    case 1: pick(doublePredicates())
    case 2: pick(textPredicates())
    case 3: pick(otherPredicates())
    default: pick(newPredicates())
    }
  }

  private mutating func integerPredicates() -> [Predicate<Item>] {
    let number = next(below: 5) == 0 ? pick(GoodsValues.integers) : next(below: 400) - 200
    let end = number.addingReportingOverflow(50).partialValue
    let small = Int16(next(below: 9) - 4)
    let unsigned = pick(GoodsValues.unsigned)
    let few = (0..<next(below: 14)).map { _ in next(below: 30) - 15 }
    return [
      #Predicate { $0.number == number },
      #Predicate { $0.number != number },
      #Predicate { $0.number < number },
      #Predicate { number <= $0.number },
      #Predicate { $0.number > number },
      #Predicate { $0.number >= number && $0.number < end },
      #Predicate { few.contains($0.number) },
      #Predicate { $0.number % 3 == 1 },
      #Predicate { $0.number < number ? $0.isOn : $0.small == small },
      #Predicate { $0.small == small },
      #Predicate { $0.small != small },
      #Predicate { $0.small == nil },
      #Predicate { $0.small != nil },
      #Predicate { ($0.small ?? 2) < small },
      #Predicate { $0.small! > small },
      #Predicate { $0.small.flatMap { $0 >= small } ?? true },
      #Predicate { $0.small.flatMap { $0 >= small } ?? false },
      #Predicate { $0.small.flatMap { $0 >= small } == true },
      #Predicate { $0.unsigned < unsigned },
      #Predicate { $0.unsigned > unsigned },
      #Predicate { $0.unsigned >= unsigned },
      #Predicate { $0.unsigned == unsigned },
    ]
  }

  private mutating func doublePredicates() -> [Predicate<Item>] {
    let amount = pick(GoodsValues.amounts)
    let ratio = Float(pick(GoodsValues.amounts))
    let made = Date(timeIntervalSinceReferenceDate: Double(next(below: 50)))
    return [
      #Predicate { $0.amount == amount },
      #Predicate { $0.amount != amount },
      #Predicate { $0.amount < amount },
      #Predicate { $0.amount <= amount },
      #Predicate { $0.amount > amount },
      #Predicate { $0.amount >= amount },
      #Predicate { !($0.amount < amount) },
      #Predicate { $0.ratio == ratio },
      #Predicate { ($0.ratio ?? 1) <= ratio },
      #Predicate { $0.made == nil },
      #Predicate { $0.made == made },
      #Predicate { ($0.made ?? made) > made },
      #Predicate { $0.made! <= made },
    ]
  }

  private mutating func textPredicates() -> [Predicate<Item>] {
    let text = pick(GoodsValues.names)
    let start = String(text.prefix(next(below: 4)))
    let texts = (0..<next(below: 4)).map { _ in pick(GoodsValues.names) }
    let noText: String? = maybe(text)
    return [
      #Predicate { $0.name == text },
      #Predicate { $0.name != text },
      #Predicate { $0.name < text },
      #Predicate { $0.name >= text },
      #Predicate { $0.name.contains(start) },
      #Predicate { $0.name.starts(with: start) },
      #Predicate { $0.name.localizedStandardContains(start) },
      #Predicate { $0.name.isEmpty },
      #Predicate { texts.contains($0.name) },
      #Predicate { $0.note == text },
      #Predicate { $0.note == noText },
      #Predicate { $0.note != noText },
      #Predicate { $0.note == nil },
      #Predicate { ($0.note ?? "a") == text },
      #Predicate { $0.note?.starts(with: start) ?? false },
      #Predicate { $0.note?.contains(start) == true },
      #Predicate { $0.note! == text },
    ]
  }

  private mutating func otherPredicates() -> [Predicate<Item>] {
    let code = pick(GoodsValues.uuids)
    let shade = pick(Shade.allCases)
    return [
      #Predicate { $0.isOn },
      #Predicate { !$0.isOn },
      #Predicate { $0.isOn == false },
      #Predicate { $0.isOff == true },
      #Predicate { $0.isOff == nil },
      #Predicate { $0.isOff ?? true },
      #Predicate { !($0.isOff ?? true) },
      #Predicate { $0.code == code },
      #Predicate { $0.code != code },
      #Predicate { $0.code < code },
      #Predicate { $0.tag == code },
      #Predicate { $0.tag != nil },
      #Predicate { $0.shade == shade },
      #Predicate { $0.shade != shade },
      .true,
      .false,
    ]
  }

  /// About what the earlier version did not have.
  private mutating func newPredicates() -> [Predicate<Item>] {
    let count = next(below: 12)
    let limit: Int? = maybe(next(below: 9))
    let text = pick(GoodsValues.names)
    let start = String(text.prefix(next(below: 4)))
    let score = pick(GoodsValues.amounts)
    return [
      #Predicate { $0.count == count },
      #Predicate { $0.count < count },
      #Predicate { $0.limit == nil },
      #Predicate { $0.limit == limit },
      #Predicate { ($0.limit ?? 4) > count },
      #Predicate { $0.label == text },
      #Predicate { $0.label.starts(with: start) },
      #Predicate { $0.score == nil },
      #Predicate { $0.score == score },
      #Predicate { ($0.score ?? 0) >= score },
      #Predicate { $0.isNew },
      #Predicate { $0.title == text },
      #Predicate { $0.parent == nil },
      #Predicate { ($0.parent?.number ?? 1) > count },
      #Predicate { $0 is Goods.Box },
      #Predicate {
        if let box = $0 as? Goods.Box { return box.extra > count } else { return false }
      },
    ]
  }

  /// Predicates put together.
  mutating func expression(depth: Int = 3) throws -> QueryExpression {
    guard depth > 0, next(below: 4) != 0 else { return try QueryExpression(predicate()) }
    let first = try expression(depth: depth - 1)
    switch next(below: 9) {
    case 0, 1, 2: return .and(first, try expression(depth: depth - 1))
    case 3, 4: return .or(first, try expression(depth: depth - 1))
    case 5: return .not(first)
    case 6:
      return .conditional(
        first,
        then: try expression(depth: depth - 1),
        else: try expression(depth: depth - 1)
      )
    case 7: return .coalesce(first, .constant(.bool(next(below: 2) == 0)))
    default:
      let wanted = next(below: 2) == 0
      return .comparison(.equal, first, .constant(.bool(wanted)), .bool)
    }
  }
}
