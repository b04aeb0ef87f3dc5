import Foundation
import SwiftData

/// The classes of the simulator's models.
enum Kind: String, CaseIterable, Codable, Sendable {
  case team, player, captain, deal, badge, locker, author, book, tag

  var type: any SimulatedModel.Type {
    switch self {
    case .team: Team.self
    case .player: Player.self
    case .captain: Captain.self
    case .deal: Deal.self
    case .badge: Badge.self
    case .locker: Locker.self
    case .author: Author.self
    case .book: Book.self
    case .tag: Tag.self
    }
  }

  /// The class as a program names it.
  var typeName: String { rawValue.capitalized }

  /// The kinds a fetch of this one finds.
  var withSubclasses: [Kind] { self == .player ? [.player, .captain] : [self] }

  func make(_ key: Int, code: Int) -> any SimulatedModel {
    switch self {
    case .team: Team(key)
    case .player: Player(key)
    case .captain: Captain(key)
    case .deal: Deal(key)
    case .badge: Badge(key)
    case .locker: Locker(key)
    case .author: Author(key)
    case .book: Book(key)
    case .tag: Tag(key, code: code)
    }
  }
}
