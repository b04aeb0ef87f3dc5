import Foundation
import SwiftData

// A cook book: composites, enumerations with payloads, predicates of every kind an app writes.

struct Nutrition: Codable, Hashable {
  var calories: Int
  var protein: Double = 0
}

enum Difficulty: Int, Codable, CaseIterable, Comparable, Identifiable {
  case easy = 1, medium, hard

  var id: Self { self }
  var title: String { "\(self)".capitalized }
  static func < (lhs: Difficulty, rhs: Difficulty) -> Bool { lhs.rawValue < rhs.rawValue }
}

enum RecipeSource: Codable, Equatable {
  case own
  case book(title: String, page: Int)
  case web(URL)
}

@Model
final class Recipe: Identifiable {
  #Index<Recipe>([\.name], [\.createdAt])

  @Attribute(.unique) private(set) var id: UUID
  @Attribute(originalName: "title") var name: String
  var createdAt: Date
  var difficulty = Difficulty.easy
  var nutrition: Nutrition?
  var source: RecipeSource = RecipeSource.own
  var tags: Set<String> = []
  var minutesByStep: [String: Int] = [:]
  @Attribute(.externalStorage) var photo: Data?

  @Relationship(deleteRule: .cascade, inverse: \Ingredient.recipe)
  var ingredients = [Ingredient]()

  @Relationship(inverse: \RecipeCollection.recipes)
  var collections: [RecipeCollection]?

  @Transient var isExpanded = false
  @Transient private var scale: Double? = nil

  static let maximumTags = 8
  static var untitled: Recipe { Recipe(name: "Untitled") }

  init(id: UUID = UUID(), name: String, createdAt: Date = .now, difficulty: Difficulty = .easy) {
    self.id = id
    self.name = name
    self.createdAt = createdAt
    self.difficulty = difficulty
  }

  convenience init(copying other: Recipe) {
    self.init(name: "\(other.name) (copy)", difficulty: other.difficulty)
    nutrition = other.nutrition
    tags = other.tags
    ingredients = other.ingredients.map { Ingredient(name: $0.name, quantity: $0.quantity) }
  }
}

extension Recipe {
  var totalMinutes: Int { minutesByStep.values.reduce(0, +) }
  var sortedIngredients: [Ingredient] { ingredients.sorted(using: SortDescriptor(\.name)) }

  func scaled(by factor: Double) -> Double {
    scale = factor
    return (scale ?? 1) * Double(nutrition?.calories ?? 0)
  }

  func addTag(_ tag: String) {
    guard tags.count < Self.maximumTags else { return }
    tags.insert(tag)
  }
}

extension Recipe {
  static var newest: FetchDescriptor<Recipe> {
    var descriptor = FetchDescriptor<Recipe>(
      sortBy: [SortDescriptor(\.createdAt, order: .reverse), SortDescriptor(\.name)]
    )
    descriptor.fetchLimit = 3
    descriptor.relationshipKeyPathsForPrefetching = [\.ingredients]
    return descriptor
  }

  static func search(_ text: String, atMost difficulty: Difficulty? = nil) -> Predicate<Recipe> {
    let highest = difficulty?.rawValue ?? Int.max
    return #Predicate<Recipe> { recipe in
      (text.isEmpty || recipe.name.localizedStandardContains(text)
        || recipe.ingredients.contains { $0.name.localizedStandardContains(text) })
        && recipe.difficulty.rawValue <= highest
    }
  }

  static func inCollection(named name: String) -> Predicate<Recipe> {
    #Predicate<Recipe> { recipe in
      recipe.collections.flatMap { $0.contains { $0.name == name } } ?? false
    }
  }

  static func lighter(than calories: Int) -> Predicate<Recipe> {
    #Predicate<Recipe> { ($0.nutrition?.calories ?? 0) < calories }
  }
}

@Model
final class Ingredient {
  var name: String
  var quantity: Measure
  var recipe: Recipe?

  struct Measure: Codable, Hashable {
    enum Unit: String, Codable { case gram, milliliter, piece }

    var amount: Double
    var unit: Unit
  }

  init(name: String, quantity: Measure = Measure(amount: 1, unit: .piece)) {
    self.name = name
    self.quantity = quantity
  }
}

@Model
final class RecipeCollection {
  var name: String
  var recipes: [Recipe] = []
  var parent: RecipeCollection?
  @Relationship(deleteRule: .cascade, inverse: \RecipeCollection.parent)
  var children: [RecipeCollection] = []

  init(_ name: String, parent: RecipeCollection? = nil) {
    self.name = name
    self.parent = parent
  }

  var path: String { parent.map { "\($0.path)/\(name)" } ?? name }
}
