import ModelRuntime

// Classes with more properties than a set of columns has marks: those from 63 on share one.

/// A class with numbers at its end.
protocol WideModel: PersistentModel {
  init()
  /// How many it has; they are called after their ordinals.
  static var propertyCount: Int { get }
  /// Its last properties, from the 62nd on at least.
  static var lastNumbers: [ReferenceWritableKeyPath<Self, Int>] { get }
}

@Model class WideBase {
  var n0 = 0
  var n1 = 0
  var n2 = 0
  var n3 = 0
  var n4 = 0
  var n5 = 0
  var n6 = 0
  var n7 = 0
  var n8 = 0
  var n9 = 0
  var n10 = 0
  var n11 = 0
  var n12 = 0
  var n13 = 0
  var n14 = 0
  var n15 = 0
  var n16 = 0
  var n17 = 0
  var n18 = 0
  var n19 = 0
  var n20 = 0
  var n21 = 0
  var n22 = 0
  var n23 = 0
  var n24 = 0
  var n25 = 0
  var n26 = 0
  var n27 = 0
  var n28 = 0
  var n29 = 0
  var n30 = 0
  var n31 = 0
  var n32 = 0
  var n33 = 0
  var n34 = 0
  var n35 = 0
  var n36 = 0
  var n37 = 0
  var n38 = 0
  var n39 = 0
  var n40 = 0
  var n41 = 0
  var n42 = 0
  var n43 = 0
  var n44 = 0
  var n45 = 0
  var n46 = 0
  var n47 = 0
  var n48 = 0
  var n49 = 0
  var n50 = 0
  var n51 = 0
  var n52 = 0
  var n53 = 0
  var n54 = 0
  var n55 = 0
  var n56 = 0
  var n57 = 0
  var n58 = 0
  var n59 = 0
  var n60 = 0
  var n61 = 0

  required init() {}
}

@Model final class Of64: WideBase {
  var n62 = 0
  var n63 = 0

  required init() { super.init() }
}

@Model final class Of65: WideBase {
  var n62 = 0
  var n63 = 0
  var n64 = 0

  required init() { super.init() }
}

@Model final class Of130: WideBase {
  var n62 = 0
  var n63 = 0
  var n64 = 0
  var n65 = 0
  var n66 = 0
  var n67 = 0
  var n68 = 0
  var n69 = 0
  var n70 = 0
  var n71 = 0
  var n72 = 0
  var n73 = 0
  var n74 = 0
  var n75 = 0
  var n76 = 0
  var n77 = 0
  var n78 = 0
  var n79 = 0
  var n80 = 0
  var n81 = 0
  var n82 = 0
  var n83 = 0
  var n84 = 0
  var n85 = 0
  var n86 = 0
  var n87 = 0
  var n88 = 0
  var n89 = 0
  var n90 = 0
  var n91 = 0
  var n92 = 0
  var n93 = 0
  var n94 = 0
  var n95 = 0
  var n96 = 0
  var n97 = 0
  var n98 = 0
  var n99 = 0
  var n100 = 0
  var n101 = 0
  var n102 = 0
  var n103 = 0
  var n104 = 0
  var n105 = 0
  var n106 = 0
  var n107 = 0
  var n108 = 0
  var n109 = 0
  var n110 = 0
  var n111 = 0
  var n112 = 0
  var n113 = 0
  var n114 = 0
  var n115 = 0
  var n116 = 0
  var n117 = 0
  var n118 = 0
  var n119 = 0
  var n120 = 0
  var n121 = 0
  var n122 = 0
  var n123 = 0
  var n124 = 0
  var n125 = 0
  var n126 = 0
  var n127 = 0
  var n128 = 0
  var n129 = 0

  required init() { super.init() }
}

/// The numbers of its properties are literals.
@Model final class Of67 {
  var n0 = 0
  var n1 = 0
  var n2 = 0
  var n3 = 0
  var n4 = 0
  var n5 = 0
  var n6 = 0
  var n7 = 0
  var n8 = 0
  var n9 = 0
  var n10 = 0
  var n11 = 0
  var n12 = 0
  var n13 = 0
  var n14 = 0
  var n15 = 0
  var n16 = 0
  var n17 = 0
  var n18 = 0
  var n19 = 0
  var n20 = 0
  var n21 = 0
  var n22 = 0
  var n23 = 0
  var n24 = 0
  var n25 = 0
  var n26 = 0
  var n27 = 0
  var n28 = 0
  var n29 = 0
  var n30 = 0
  var n31 = 0
  var n32 = 0
  var n33 = 0
  var n34 = 0
  var n35 = 0
  var n36 = 0
  var n37 = 0
  var n38 = 0
  var n39 = 0
  var n40 = 0
  var n41 = 0
  var n42 = 0
  var n43 = 0
  var n44 = 0
  var n45 = 0
  var n46 = 0
  var n47 = 0
  var n48 = 0
  var n49 = 0
  var n50 = 0
  var n51 = 0
  var n52 = 0
  var n53 = 0
  var n54 = 0
  var n55 = 0
  var n56 = 0
  var n57 = 0
  var n58 = 0
  var n59 = 0
  var n60 = 0
  var n61 = 0
  var n62 = 0
  var n63 = 0
  var n64 = 0
  var n65 = 0
  var n66 = 0

  init() {}
}

extension Of64: WideModel {
  static var propertyCount: Int { 64 }
  static var lastNumbers: [ReferenceWritableKeyPath<Of64, Int>] { [\.n62, \.n63] }
}

extension Of65: WideModel {
  static var propertyCount: Int { 65 }
  static var lastNumbers: [ReferenceWritableKeyPath<Of65, Int>] { [\.n62, \.n63, \.n64] }
}

extension Of67: WideModel {
  static var propertyCount: Int { 67 }
  static var lastNumbers: [ReferenceWritableKeyPath<Of67, Int>] {
    [\.n61, \.n62, \.n63, \.n64, \.n65, \.n66]
  }
}

extension Of130: WideModel {
  static var propertyCount: Int { 130 }
  static var lastNumbers: [ReferenceWritableKeyPath<Of130, Int>] {
    [\.n61, \.n62, \.n63, \.n64, \.n126, \.n127, \.n128, \.n129]
  }
}

/// A class whose relationships share a mark, and the places in lists that they have.
@Model final class Hub: WideBase {
  var n62 = 0
  var first: Spoke?
  var second: Spoke?
  var twin: Mate?
  var tags: [Banner] = []
  @Relationship(deleteRule: .nullify, inverse: \Piece.hub) var parts: [Piece] = []
  var text = ""

  required init() { super.init() }
}

@Model final class Spoke {
  var name: String
  @Relationship(deleteRule: .nullify, inverse: \Hub.first) var firsts: [Hub] = []
  @Relationship(deleteRule: .nullify, inverse: \Hub.second) var seconds: [Hub] = []
  init(_ name: String) { self.name = name }
}

@Model final class Mate {
  var name: String
  @Relationship(inverse: \Hub.twin) var hub: Hub?
  init(_ name: String) { self.name = name }
}

@Model final class Banner {
  var name: String
  @Relationship(inverse: \Hub.tags) var hubs: [Hub] = []
  init(_ name: String) { self.name = name }
}

@Model final class Piece {
  var name: String
  var hub: Hub?
  init(_ name: String) { self.name = name }
}

enum Wide {
  static let classes: [any WideModel.Type] = [Of64.self, Of65.self, Of67.self, Of130.self]
  static let all: [any PersistentModel.Type] =
    [WideBase.self, Of64.self, Of65.self, Of67.self, Of130.self, Hub.self, Spoke.self, Mate.self]
    + [Banner.self, Piece.self]
}
