"""What Flint says about a machine: the table of recorded Macs, and this machine."""

import sys

import psutil
import pytest

from engine.hardware import device
from engine.hardware.device import parse_cpu_name, parse_gpu_cores, published_bandwidth, read_device

M4_PRO = {
    "device_name": "Apple M4 Pro",
    "memory_size": 51539607552,
    "max_recommended_working_set_size": 40200896512,
    "max_buffer_length": 30150672384,
    "architecture": "applegpu_g16s",
    "resource_limit": 499000,
}
M5_MAX = {
    "device_name": "Apple M5 Max",
    "memory_size": 137438953472,
    "max_recommended_working_set_size": 115448725504,
    "max_buffer_length": 86586540032,
    "architecture": "applegpu_g17s",
    "resource_limit": 499000,
}
M5_MAX_RAISED = M5_MAX | {
    "memory_size": 68719476736,
    "max_recommended_working_set_size": 60129542144,
    "max_buffer_length": 41747087360,
}
M3_ULTRA = {
    "device_name": "Apple M3 Ultra",
    "memory_size": 274877906944,
    "max_recommended_working_set_size": 223338299392,
    "max_buffer_length": 167503724544,
    "architecture": "applegpu_g15d",
    "resource_limit": 499000,
}

IOREG_M4_PRO = """\
+-o AGXAcceleratorG16X  <class AGXAcceleratorG16X, id 0x1000005d1, registered, matched, active, busy 0 (4 ms), retain 96>
    {
      "IOClass" = "AGXAcceleratorG16X"
      "IOPlatformPanicAction" = Yes
      "gpu-core-count" = 20
      "GPUConfigurationVariable" = {"num_gps"=4,"gpu_gen"=16,"usc_gen"=3,"num_cores"=24,"num_mgpus"=1,"gpu_var"="S"}
      "PerformanceStatistics" = {"In use system memory"=1263386624,"Device Utilization %"=4,"recoveryCount"=0}
      "model" = "Apple M4 Pro"
      "IOSourceVersion" = "325.34.1"
    }

"""

CPUINFO_X86 = """\
processor\t: 0
vendor_id\t: AuthenticAMD
model\t\t: 17
model name\t: AMD EPYC 9R14 96-Core Processor
flags\t\t: fpu vme

processor\t: 1
model name\t: another
"""
CPUINFO_ARM = "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n"


@pytest.mark.parametrize(
    ("facts", "cores", "bandwidth"),
    [(M4_PRO, 20, 273e9), (M5_MAX, 40, 614e9), (M5_MAX, 32, 460e9), (M5_MAX_RAISED, 40, 614e9), (M3_ULTRA, 80, 819e9)],
)
def test_a_recorded_mac_is_told_with_all_its_limits(facts, cores, bandwidth):
    found = read_device(facts, gpu_cores=cores)
    assert found.chip == facts["device_name"]
    assert found.architecture == facts["architecture"]
    assert found.gpu_cores == cores
    assert found.memory_bytes == facts["memory_size"]
    assert found.working_set_bytes == facts["max_recommended_working_set_size"]
    assert found.max_buffer_bytes == facts["max_buffer_length"]
    assert found.bandwidth_bytes_per_s == bandwidth
    assert found.metal


@pytest.mark.parametrize(
    ("chip", "gigabytes"),
    [
        ("Apple M1", 68.25),
        ("Apple M1 Pro", 200),
        ("Apple M1 Max", 400),
        ("Apple M1 Ultra", 800),
        ("Apple M2", 100),
        ("Apple M2 Pro", 200),
        ("Apple M2 Max", 400),
        ("Apple M2 Ultra", 800),
        ("Apple M3", 100),
        ("Apple M3 Pro", 150),
        ("Apple M3 Ultra", 819),
        ("Apple M4", 120),
        ("Apple M4 Pro", 273),
        ("Apple M5", 153),
        ("Apple M5 Pro", 307),
    ],
)
def test_a_chip_with_one_bandwidth_needs_no_core_count(chip, gigabytes):
    assert published_bandwidth(chip, None) == pytest.approx(gigabytes * 1e9)


@pytest.mark.parametrize(
    ("chip", "cores", "gigabytes"),
    [
        ("Apple M3 Max", 30, 300),
        ("Apple M3 Max", 40, 400),
        ("Apple M4 Max", 32, 410),
        ("Apple M4 Max", 40, 546),
        ("Apple M5 Max", 32, 460),
        ("Apple M5 Max", 40, 614),
    ],
)
def test_a_chip_with_two_bandwidths_goes_by_its_gpu_cores(chip, cores, gigabytes):
    assert published_bandwidth(chip, cores) == pytest.approx(gigabytes * 1e9)


@pytest.mark.parametrize("chip", ["Apple M3 Max", "Apple M4 Max", "Apple M5 Max"])
@pytest.mark.parametrize("cores", [None, 7])
def test_a_chip_with_two_bandwidths_has_no_figure_when_its_cores_do_not_decide(chip, cores):
    assert published_bandwidth(chip, cores) is None


@pytest.mark.parametrize("chip", ["Apple M9", "Apple M4 Turbo", "apple m4", "", "AMD EPYC", "bandwidth"])
def test_an_unknown_chip_has_no_figure(chip):
    assert published_bandwidth(chip, 40) is None


def test_a_cpu_device_has_no_gpu_limits():
    found = read_device({"architecture": "x86_64", "device_name": "AMD EPYC"})
    assert not found.metal
    assert (found.working_set_bytes, found.max_buffer_bytes) == (None, None)
    assert found.memory_bytes > 0
    assert found.architecture == "x86_64"


def test_a_cpu_without_a_name_of_its_own_is_called_what_mlx_calls_it(monkeypatch):
    monkeypatch.setattr(device, "cpu_name", lambda: "")
    assert read_device({"architecture": "aarch64", "device_name": "ARM board"}).chip == "ARM board"
    assert read_device({}).chip == "unknown"


def test_this_machine_is_read_through_mlx_and_without_it_alike():
    found = read_device()
    assert found.chip
    assert found.memory_bytes > 0
    without = read_device({})
    assert without.memory_bytes == found.memory_bytes
    assert without.chip == found.chip


@pytest.mark.skipif(sys.platform != "linux", reason="Linux names its processor in /proc/cpuinfo")
def test_on_linux_memory_and_chip_are_the_systems_and_no_bandwidth_is_claimed():
    found = read_device({})
    assert found.memory_bytes <= psutil.virtual_memory().total
    assert found.bandwidth_bytes_per_s is None
    assert found.gpu_cores is None


def test_gpu_cores_are_read_from_the_io_registrys_text():
    assert parse_gpu_cores(IOREG_M4_PRO) == 20


@pytest.mark.parametrize("text", ["", "+-o AGXAccelerator {}", '"gpu-core-count" = <14000000>', '"num_cores"=24'])
def test_gpu_cores_are_unknown_when_the_io_registry_does_not_say(text):
    assert parse_gpu_cores(text) is None


def test_the_processors_name_is_the_first_model_name():
    assert parse_cpu_name(CPUINFO_X86) == "AMD EPYC 9R14 96-Core Processor"


@pytest.mark.parametrize("text", [CPUINFO_ARM, "", "model name\t: \nflags\t: fpu\n"])
def test_a_processor_that_gives_no_name_has_none(text):
    assert parse_cpu_name(text) == ""
