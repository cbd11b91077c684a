from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from teiten.environment.cpu import model_of, parse_cpuinfo, summarise_topology, turbo_state
from teiten.environment.fsync import summarise_latencies
from teiten.environment.kernel import kernel_parameters
from teiten.environment.memory import parse_meminfo, parse_swaps
from teiten.environment.read import parse_cpu_list, read_number, read_text, selected
from teiten.environment.software import parse_os_release, parse_version
from teiten.environment.storage import Mount, mount_of, parse_mountinfo
from teiten.environment.virtualisation import limit_bytes, parse_cgroup, quota_cpus

DATA = Path(__file__).parents[2] / "data" / "environment"


def test_absent_and_unreadable_files_are_none(tmp_path: Path) -> None:
    words = tmp_path / "words"
    words.write_text("not a number\n")
    assert read_text(tmp_path / "absent") is None
    assert read_text(tmp_path) is None
    assert read_number(words) is None


def test_the_bracketed_word_is_selected() -> None:
    assert selected("always [madvise] never") == "madvise"
    assert selected("none") == "none"
    assert selected("none mq-deadline") is None
    assert selected(None) is None


@given(st.sets(st.integers(0, 4095)))
def test_a_cpu_list_names_the_cpus_that_the_kernel_printed(cpus: set[int]) -> None:
    ranges: list[list[int]] = []
    for cpu in sorted(cpus):
        if ranges and ranges[-1][-1] == cpu - 1:
            ranges[-1].append(cpu)
        else:
            ranges.append([cpu])
    printed = ",".join(f"{r[0]}-{r[-1]}" if len(r) > 1 else f"{r[0]}" for r in ranges)
    assert parse_cpu_list(printed) == tuple(sorted(cpus))


def test_cpuinfo_has_a_stanza_for_each_cpu() -> None:
    processors = parse_cpuinfo((DATA / "cpuinfo-vm-2cpu.txt").read_text())
    assert [x["processor"] for x in processors] == ["0", "1"]
    assert model_of(processors[0]) == "Intel(R) Xeon(R) Processor"
    assert processors[0]["microcode"] == "0x1"


def test_an_arm_processor_is_named_by_its_numbers() -> None:
    (processor,) = parse_cpuinfo("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n")
    assert model_of(processor) == "implementer 0x41, part 0xd0c"
    assert model_of({"processor": "0"}) is None


def test_topology_counts_siblings_of_one_core_once() -> None:
    two_sockets_with_smt = [(socket, core) for socket in (0, 1) for core in (0, 1, 2)] * 2
    assert summarise_topology(two_sockets_with_smt) == {
        "sockets": 2,
        "cores": 6,
        "threads": 12,
        "threads_per_core": 2,
    }
    assert summarise_topology([]) == {}


def test_turbo_switches_of_intel_and_others_have_opposite_sense() -> None:
    assert [turbo_state(no_turbo, None) for no_turbo in (0, 1)] == ["on", "off"]
    assert [turbo_state(None, boost) for boost in (0, 1)] == ["off", "on"]
    assert turbo_state(None, None) is None


def test_arguments_of_init_are_no_kernel_parameters() -> None:
    assert kernel_parameters("quiet isolcpus=2-3 -- --token abc\n") == "quiet isolcpus=2-3"


def test_meminfo_is_in_bytes_but_page_counts_are_not() -> None:
    values = parse_meminfo((DATA / "meminfo-vm-24gib.txt").read_text())
    assert values["MemTotal"] == 24_684_096 * 1024
    assert values["HugePages_Total"] == 0
    assert parse_meminfo("HugePages_Total:     512\n") == {"HugePages_Total": 512}


def test_swaps_lists_what_follows_the_heading() -> None:
    heading = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
    assert parse_swaps(heading) == []
    assert parse_swaps(f"{heading}/dev/zram0 partition\t1048572\t0\t100\n") == ["/dev/zram0"]


def test_the_newest_mount_on_a_point_hides_older_ones() -> None:
    mounts = parse_mountinfo((DATA / "mountinfo-vm-cgroup1.txt").read_text())
    root = mount_of(Path("/home/x"), mounts)
    shared_memory = mount_of(Path("/dev/shm/x"), mounts)  # noqa: S108 - only a name
    assert root is not None
    assert shared_memory is not None
    assert (root.file_system, root.source, root.device) == ("ext4", "/dev/vda", "254:0")
    assert root.options.startswith("rw,relatime,discard")
    assert (shared_memory.point, shared_memory.device) == ("/dev/shm", "0:27")  # noqa: S108 - a name


def test_mounts_with_optional_fields_spaces_and_overlay_layers() -> None:
    line = (
        "36 35 98:0 /mnt1 /mnt/my\\040disk rw,noatime master:1 shared:2 - overlay over "
        "rw,lowerdir=/a:/b,upperdir=/c,xino=off"
    )
    (mount,) = parse_mountinfo(line)
    assert mount.point == "/mnt/my disk"
    assert mount.options == "rw,noatime,xino=off"


names = st.sampled_from(["a", "b", "ab"])
paths = st.lists(names, max_size=4).map(lambda parts: Path("/", *parts))


@given(st.lists(paths, max_size=6), paths)
def test_a_path_lies_on_the_deepest_mount_above_it(points: list[Path], path: Path) -> None:
    mounts = [Mount("0:1", str(point), "rw", "ext4", "/dev/x") for point in points]
    found = mount_of(path, mounts)
    above = [point for point in points if point == path or point in path.parents]
    if not above:
        assert found is None
    else:
        assert found is not None
        assert len(Path(found.point).parts) == max(len(x.parts) for x in above)


def test_both_versions_of_control_groups() -> None:
    both = parse_cgroup("9:name=systemd:/\n3:cpu,cpuacct:/box\n0::/user.slice\n")
    assert both == {"name=systemd": "/", "cpu": "/box", "cpuacct": "/box", "": "/user.slice"}
    assert quota_cpus("150000", "100000") == 1.5
    assert quota_cpus("max", "100000") is None
    assert quota_cpus("-1", "100000") is None
    assert limit_bytes("max") is None
    assert limit_bytes("9223372036854771712") is None
    assert limit_bytes("1073741824") == 1 << 30


def test_versions_as_the_programs_print_them() -> None:
    assert parse_version("sysstat version 12.6.1\n(C) Sebastien Godard\n") == "12.6.1"
    assert parse_version("perf version 6.1.187\n") == "6.1.187"
    assert parse_version("valgrind-3.19.0\n") == "3.19.0"
    assert parse_version("no number") is None
    assert parse_os_release('ID=debian\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n') == (
        "Debian GNU/Linux 12 (bookworm)"
    )


def test_flush_rate_counts_the_time_of_writes_only() -> None:
    summary = summarise_latencies([0.001] * 99 + [0.101])
    assert summary["writes"] == 100
    assert summary["median_ms"] == 1.0
    assert abs(summary["rate_per_s"] - 500) < 1e-6
    assert 1 < summary["p99_ms"] <= 101
