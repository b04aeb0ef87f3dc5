import Testing

@testable import Reporting

@Suite struct `Marks on an axis` {
  @Test(
    arguments: [
      (10, [0, 2, 4, 6, 8, 10]), (1, [0, 0.2, 0.4, 0.6, 0.8, 1]), (11, [0, 5, 10, 15]),
      (14_608, [0, 5000, 10_000, 15_000]), (0.3, [0, 0.1, 0.2, 0.3]),
    ] as [(Double, [Double])]
  )
  func `are round numbers from zero to at least the maximum`(maximum: Double, marks: [Double]) {
    let found = Ticks.linear(upTo: maximum, atMost: 5)
    #expect(found.count == marks.count)
    #expect(zip(found, marks).allSatisfy { abs($0 - $1) < 1e-9 * maximum })
  }

  @Test(arguments: [1e-9, 0.07, 1, 3.3, 999, 1000, 1001, 7.5e12])
  func `are never more than asked for`(maximum: Double) {
    let marks = Ticks.linear(upTo: maximum, atMost: 5)
    #expect(marks.first == 0)
    #expect((marks.last ?? 0) >= maximum * (1 - 1e-9))
    #expect((2...6).contains(marks.count))
  }

  @Test func `are powers of ten where there are many, with two and five where there are few`() {
    #expect(Ticks.logarithmic(1...1_000_000) == [1, 10, 100, 1000, 10_000, 100_000, 1_000_000])
    #expect(Ticks.logarithmic(3...120) == [5, 10, 20, 50, 100])
    #expect(Ticks.logarithmic(10...100) == [10, 20, 50, 100])
  }
}

@Suite struct `A scale` {
  @Test func `keeps proportions when linear`() {
    let scale = Scale(.linear, 0...200, from: 100, to: 300)
    #expect(scale.place(0) == 100)
    #expect(scale.place(50) == 150)
  }

  @Test func `makes each doubling as long when logarithmic`() {
    let scale = Scale(.logarithmic, 1...16, from: 0, to: 4)
    #expect(zip([1.0, 2, 4, 8, 16], 0...).allSatisfy { abs(scale.place($0) - Double($1)) < 1e-9 })
  }

  @Test func `makes each nine as long as the one before`() {
    let scale = Scale(.nines, 0...0.999, from: 300, to: 0)
    let places = [0, 0.9, 0.99, 0.999].map(scale.place)
    #expect(zip(places, [300.0, 200, 100, 0]).allSatisfy { abs($0 - $1) < 1e-6 })
  }

  @Test(arguments: [-5, 250, .infinity])
  func `shows what is outside of its domain at the edge`(value: Double) {
    let scale = Scale(.linear, 0...200, from: 10, to: 20)
    #expect(scale.place(value) == (value < 0 ? 10 : 20))
  }
}

@Suite struct `Labels` {
  @Test func `stay where they are if nobody is in their way`() {
    #expect(LabelPlaces.spread([50, 10, 90], apart: 14, within: 0...100) == [50, 10, 90])
  }

  @Test(arguments: [[50, 50, 50], [99, 98, 97], [1, 2, 100], [100, 100, 0]] as [[Double]])
  func `move apart, keep their order and stay on the page`(wanted: [Double]) {
    let places = LabelPlaces.spread(wanted, apart: 14, within: 0...100)
    let sorted = places.sorted()
    #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $1 - $0 >= 14 - 1e-9 })
    #expect(places.allSatisfy { (0...100).contains($0) })
    for (left, right) in zip(wanted.indices, wanted.indices.dropFirst())
    where wanted[left] != wanted[right] {
      #expect((wanted[left] < wanted[right]) == (places[left] < places[right]))
    }
  }
}
