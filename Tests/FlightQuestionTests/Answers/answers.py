#!/usr/bin/env python3
"""Answers the ten questions of FlightQuestion.swift from the CSV files, without any database.

    ./answers.py FLIGHTS.csv PLANES.csv > ANSWERS.txt

Writes the name of each question after a #, then a line for each row of its answer.
"""

import csv
import math
import sys
from collections import defaultdict
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

NEW_YORK = ZoneInfo("America/New_York")


def optional(text, kind=int):
    return None if text in ("", "NA") else kind(text)


class Flight:
    def __init__(self, row):
        self.carrier, self.origin, self.destination = row["carrier"], row["origin"], row["dest"]
        self.tail = optional(row["tailnum"], str)
        moment = datetime.fromisoformat(row["time_hour"].replace("Z", "+00:00"))
        self.scheduled = moment + timedelta(minutes=int(row["minute"]))
        self.local = self.scheduled.astimezone(NEW_YORK)
        assert self.local.hour == int(row["hour"]) and self.local.month == int(row["month"])
        self.departure_delay = optional(row["dep_delay"])
        self.arrival_delay = optional(row["arr_delay"])
        self.air_time = optional(row["air_time"])
        self.distance = int(row["distance"])


def grouped(flights, key):
    groups = defaultdict(list)
    for flight in flights:
        groups[key(flight)].append(flight)
    return groups


def known(values):
    return [value for value in values if value is not None]


def mean(values):
    return sum(values) / len(values) if values else None


def percentile(values, share):
    values = sorted(values)
    place = share * (len(values) - 1)
    lower = math.floor(place)
    rest = place - lower
    return values[lower] * (1 - rest) + (values[lower + 1] * rest if rest else 0)


def write(*values):
    print(",".join(decimals(v) if v is None or isinstance(v, float) else str(v) for v in values))


def decimals(value):
    return "" if value is None else f"{value:.4f}"


def delays_by_carrier_and_hour(flights, _):
    groups = grouped(flights, lambda f: (f.carrier, f.local.hour))
    for (carrier, hour), group in sorted(groups.items()):
        write(carrier, hour, len(group), mean(known(f.departure_delay for f in group)))


def worst_routes(flights, _):
    arrived = [f for f in flights if f.arrival_delay is not None]
    routes = [
        (-mean([f.arrival_delay for f in group]), route, len(group))
        for route, group in grouped(arrived, lambda f: (f.origin, f.destination)).items()
        if len(group) >= 15
    ]
    for delay, route, count in sorted(routes)[:10]:
        write(*route, count, -delay)


def planes_by_hours(flights, _):
    groups = grouped((f for f in flights if f.tail), lambda f: f.tail)
    planes = []
    for tail, group in groups.items():
        times = known(f.air_time for f in group)
        planes.append((-sum(times), tail, len(times)))
    for minutes, tail, count in sorted(planes)[:10]:
        write(tail, count, -minutes / 60)


def cancellations_by_week(flights, _):
    cancelled = [f for f in flights if f.departure_delay is None]
    weeks = grouped(cancelled, lambda f: f.local.date() - timedelta(days=f.local.weekday()))
    for week, group in sorted(weeks.items()):
        write(week.isoformat(), len(group))


def longest_chain(flights, _):
    flown = [f for f in flights if f.tail and f.departure_delay is not None]
    chains = []
    for tail, group in grouped(flown, lambda f: f.tail).items():
        times = sorted(f.scheduled for f in group)
        length = 1
        chains.append((-length, tail))
        for before, after in zip(times, times[1:]):
            length = length + 1 if after - before <= timedelta(days=1) else 1
            chains.append((-length, tail))
    length, tail = min(chains)
    write(tail, -length)


def busiest_hours(flights, _):
    for origin, group in sorted(grouped(flights, lambda f: f.origin).items()):
        hours = grouped(group, lambda f: f.local.hour)
        count, hour = max((len(flights), -hour) for hour, flights in hours.items())
        write(origin, -hour, count)


def delay_percentiles(flights, _):
    left = [f for f in flights if f.departure_delay is not None]
    for carrier, group in sorted(grouped(left, lambda f: f.carrier).items()):
        delays = [f.departure_delay for f in group]
        write(carrier, *(float(percentile(delays, share)) for share in (0.5, 0.9, 0.99)))


def late_share_by_month(flights, _):
    arrived = [f for f in flights if f.arrival_delay is not None]
    for month, group in sorted(grouped(arrived, lambda f: f.local.month).items()):
        write(month, len(group), sum(f.arrival_delay > 15 for f in group) / len(group))


def miles_by_manufacturer(flights, manufacturers):
    flown = [f for f in flights if f.air_time is not None and f.tail in manufacturers]
    makers = [
        (-sum(f.distance for f in group), maker, len(group))
        for maker, group in grouped(flown, lambda f: manufacturers[f.tail]).items()
        if len(group) >= 50
    ]
    for miles, maker, count in sorted(makers)[:10]:
        write(maker, count, -miles)


def best_weekday(flights, _):
    arrived = [f for f in flights if f.arrival_delay is not None]
    days = grouped(arrived, lambda f: f.local.isoweekday() % 7 + 1)
    delay, day = min((mean([f.arrival_delay for f in group]), day) for day, group in days.items())
    write(day, len(days[day]), delay)


def main():
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        flights = [Flight(row) for row in csv.DictReader(file)]
    with open(sys.argv[2], newline="", encoding="utf-8") as file:
        manufacturers = {row["tailnum"]: row["manufacturer"] for row in csv.DictReader(file)}
    for question in (
        delays_by_carrier_and_hour,
        worst_routes,
        planes_by_hours,
        cancellations_by_week,
        longest_chain,
        busiest_hours,
        delay_percentiles,
        late_share_by_month,
        miles_by_manufacturer,
        best_weekday,
    ):
        print("# " + question.__name__.replace("_", "-"))
        question(flights, manufacturers)


if __name__ == "__main__":
    main()
