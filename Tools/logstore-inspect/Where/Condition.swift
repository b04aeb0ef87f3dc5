/// The condition of a query, as it was written: nothing is known of the columns yet.
///
///     condition   = any ("||" any …)           also: or
///     any         = all ("&&" all …)           also: and
///     all         = ["!"] test                 also: not
///     test        = "(" condition ")"
///                 | operand relation operand
///                 | operand "in" "[" value "," … "]"     or between parentheses
///                 | operand "in" value ("..." | "..<") value
///                 | operand ["not"] ("contains" | "startsWith" | "endsWith") ["[c]"] text
///                 | operand "." ("contains" | "startsWith" | "endsWith") "(" text ")"
///                 | operand "is" ["not"] "nil"
///                 | column                     of a Boolean column
///     relation    = "==" | "=" | "!=" | "<>" | "<" | "<=" | ">" | ">="
///     operand     = column | value
///     value       = "text" | 'text' | number | true | false | nil
///
/// A name that is a word of the language is written between backticks. `nil` may be written `null`. `[c]` ignores
/// case. Dates are texts in ISO 8601, and references texts as they are shown, `Entity/key`; `key` is a row's key.
indirect enum Condition: Equatable {
  case all([Condition])
  case any([Condition])
  case not(Condition)
  case comparison(Operand, Relation, Operand)
  case membership(Operand, [Literal])
  case range(Operand, Literal, Literal, includesUpper: Bool)
  case text(Operand, TextTest, Literal, ignoresCase: Bool)
  /// A column that is itself true or false.
  case flag(Operand)

  enum Relation: Equatable { case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual }

  enum TextTest: String, Equatable, CaseIterable { case contains, startsWith, endsWith }

  /// A value with its place in the text.
  struct Literal: Equatable {
    let value: Value
    let token: WhereToken

    enum Value: Equatable {
      case null
      case bool(Bool)
      case integer(Int64)
      /// A whole number that is no `integer`.
      case unsigned(UInt64)
      case double(Double)
      case text(String)
    }
  }

  enum Operand: Equatable {
    case column(String, WhereToken)
    case literal(Literal)

    var token: WhereToken {
      switch self {
      case .column(_, let token): token
      case .literal(let literal): literal.token
      }
    }
  }
}
