// swift-format-ignore-file: NeverForceUnwrap
// The forced unwraps below are part of what is tested.

import Foundation

@testable import ModelRuntime

extension Questions {
  static let paths: [Question<Item>] = {
    let name = "abc"
    return [
      Question("folder == nil", #Predicate { $0.folder == nil }),
      Question("folder != nil", #Predicate { $0.folder != nil }),
      Question("name ==", #Predicate { $0.folder?.name == name }),
      Question("name !=", #Predicate { $0.folder?.name != name }),
      Question("size ??", #Predicate { ($0.folder?.size ?? 9) > 2 }),
      Question("optional at the end", #Predicate { $0.folder?.comment == nil }),
      Question("optional at the end != nil", #Predicate { $0.folder?.comment != nil }),
      Question("two steps", #Predicate { $0.folder?.parent?.size == 0 }),
      Question("two steps != ", #Predicate { $0.folder?.parent?.name != name }),
      Question("two steps nil", #Predicate { $0.folder?.parent == nil }),
      Question("method at the end", #Predicate { $0.folder?.name.contains("a") == true }),
      Question("method ??", #Predicate { $0.folder?.name.contains("a") ?? true }),
      Question("forced", #Predicate { $0.folder!.size > 2 }),
      Question("forced !=", #Predicate { $0.folder!.name != name }),
      Question("forced nil", #Predicate { !($0.folder!.parent == nil) }),
      Question(
        "if let",
        #Predicate { item in
          if let folder = item.folder { folder.size > item.number } else { false }
        }
      ),
      Question(
        "flatMap with the outer row",
        #Predicate { item in item.folder.flatMap { $0.name == item.title || $0.size > 3 } ?? true }
      ),
      Question("same folder", #Predicate { $0.folder == $0.folder?.parent }),
      Question("is", #Predicate { $0 is Errand }),
      Question("is not", #Predicate { !($0 is Errand) && $0.number > 1 }),
      Question("as?", #Predicate { ($0 as? Errand)?.place.isEmpty == false }),
      Question(
        "if let as?",
        #Predicate { if let errand = $0 as? Errand { errand.place > "b" } else { false } }
      ),
    ]
  }()

  static let lists: [Question<Folder>] = {
    let name = "a"
    return [
      Question("isEmpty", #Predicate { $0.items.isEmpty }),
      Question("not isEmpty", #Predicate { !$0.children.isEmpty }),
      Question("count", #Predicate { $0.items.count > 5 }),
      Question("contains where", #Predicate { $0.items.contains { $0.number == 3 } }),
      Question("allSatisfy", #Predicate { $0.items.allSatisfy { $0.number > -200 } }),
      Question("filter count", #Predicate { $0.items.filter { $0.isDone }.count >= 3 }),
      Question("filter isEmpty", #Predicate { $0.items.filter { $0.number == 7 }.isEmpty }),
      Question(
        "filter contains",
        #Predicate { $0.items.filter { $0.isDone }.contains { $0.number == 3 } }
      ),
      Question(
        "outer in inner",
        #Predicate { folder in folder.items.contains { $0.number == folder.size } }
      ),
      Question(
        "lists in lists",
        #Predicate { $0.items.contains { $0.labels.contains { $0.weight > 1 } } }
      ),
      Question(
        "three levels, each named",
        #Predicate { folder in
          folder.items.contains { item in
            item.labels.contains { $0.name == item.title || $0.name == folder.name }
          }
        }
      ),
      Question(
        "back to the outer row",
        #Predicate { folder in
          folder.items.allSatisfy { $0.folder.flatMap { $0 == folder } ?? false }
        }
      ),
      Question(
        "member",
        #Predicate { folder in folder.parent?.children.contains(folder) ?? false }
      ),
      Question("list through a path", #Predicate { $0.parent?.children.isEmpty == false }),
      Question("count through a path", #Predicate { ($0.parent?.children.count ?? 0) > 1 }),
      Question(
        "names",
        #Predicate { folder in ["a", "b"].contains { $0 == folder.name || folder.size > 3 } }
      ),
      Question("comment or name", #Predicate { ($0.comment ?? $0.name) == name }),
    ]
  }()
}
