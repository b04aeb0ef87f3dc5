// swift-format-ignore-file: NeverForceUnwrap
// The forced unwraps below are part of what is tested.

import Foundation

@testable import ModelRuntime

/// Predicates as people write them.
enum Questions {
  static let numbers: [Question<Item>] = {
    let most = Int.max
    let least = Int.min
    let small: Int16 = 300
    let byte: UInt8 = 128
    let half: UInt64 = 1 << 63
    let wides: [UInt64] = [.max, 0]
    let unordered = Samples.doubles[8]
    let infinity = Double.infinity
    let tenth: Float = 0.1
    let set: Set = [1, 2, 3, 7]
    let captured = 0...7
    let from = 3...
    let none: Int? = nil
    let some: Int? = 7
    return [
      Question("==", #Predicate { $0.number == 3 }),
      Question("!=", #Predicate { $0.number != 3 }),
      Question("constant on the left", #Predicate { 3 < $0.number }),
      Question("< Int.max", #Predicate { $0.number < most && $0.number > least }),
      Question("> Int.max", #Predicate { $0.number > most || $0.number < least }),
      Question(">= Int.min", #Predicate { $0.number >= least && $0.number <= most }),
      Question("Int16", #Predicate { $0.small >= small }),
      Question("UInt8", #Predicate { $0.byte > byte }),
      Question("UInt64 order", #Predicate { $0.wide > half }),
      Question("UInt64 <=", #Predicate { $0.wide <= half }),
      Question("UInt64 set", #Predicate { wides.contains($0.wide) }),
      Question("UInt64 columns", #Predicate { $0.wide < $0.wide + 0 || $0.wide == half }),
      Question("Double", #Predicate { $0.ratio <= 1.5 }),
      Question("zero", #Predicate { $0.ratio == 0 }),
      Question("NaN ==", #Predicate { $0.ratio == unordered }),
      Question("NaN !=", #Predicate { $0.ratio != unordered }),
      Question("not < NaN", #Predicate { !($0.ratio < unordered) }),
      Question("infinity", #Predicate { $0.ratio < infinity }),
      Question("Float", #Predicate { $0.share == tenth }),
      Question("Float sum", #Predicate { $0.share + tenth == 0.3 }),
      Question("Float quotient", #Predicate { $0.share / 3 > 0.033 }),
      Question("set", #Predicate { set.contains($0.number) }),
      Question("literal array", #Predicate { [1, 7].contains($0.number) }),
      Question("closed range", #Predicate { (0...7).contains($0.number) }),
      Question("range", #Predicate { (0..<7).contains($0.number) }),
      Question("captured range", #Predicate { captured.contains($0.number) }),
      Question("partial range", #Predicate { from.contains($0.number) }),
      Question("between attributes", #Predicate { $0.number < $0.number / 2 }),
      Question("sum", #Predicate { $0.number / 2 + 1 > 1 }),
      Question("remainder", #Predicate { $0.number % 2 == 1 }),
      Question("minus", #Predicate { -($0.number % 50) > 0 }),
      Question(
        "double arithmetic",
        #Predicate { (item: Item) in (item.ratio + 1) * 2 - 0.5 >= item.ratio / 3 }
      ),
      Question("optional ==", #Predicate { $0.count == 7 }),
      Question("optional !=", #Predicate { $0.count != 7 }),
      Question("optional == nil captured", #Predicate { $0.count == none }),
      Question("optional == some captured", #Predicate { $0.count != some }),
      Question("?? and <", #Predicate { ($0.count ?? 5) < 6 }),
      Question("!", #Predicate { $0.count! > 1 }),
      Question("! negated", #Predicate { !($0.count! > 1) }),
      Question("optional double", #Predicate { $0.score == 1.5 || $0.score == nil }),
      Question("optional double ??", #Predicate { ($0.score ?? -1) <= 0 }),
      Question("optional float", #Predicate { $0.weight == tenth }),
      Question("columns", #Predicate { $0.count == $0.rank?.rawValue }),
      Question("min of captured", #Predicate { $0.number < [7, 3, 100].min()! }),
    ]
  }()
}
